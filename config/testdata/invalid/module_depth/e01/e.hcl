module "next" {
  source = "../e02"
}
