module "next" {
  source = "../e05"
}
