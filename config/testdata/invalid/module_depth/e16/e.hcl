module "next" {
  source = "../e17"
}
