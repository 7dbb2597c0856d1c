module "next" {
  source = "../e10"
}
