module "next" {
  source = "../e16"
}
