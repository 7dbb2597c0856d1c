module "next" {
  source = "../e04"
}
