module "next" {
  source = "../e18"
}
