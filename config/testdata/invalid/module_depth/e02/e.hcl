module "next" {
  source = "../e03"
}
