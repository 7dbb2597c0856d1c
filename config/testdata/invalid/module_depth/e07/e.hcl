module "next" {
  source = "../e08"
}
