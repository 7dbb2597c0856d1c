module "next" {
  source = "../e20"
}
