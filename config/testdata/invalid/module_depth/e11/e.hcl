module "next" {
  source = "../e12"
}
