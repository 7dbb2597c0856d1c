module "next" {
  source = "../e19"
}
