module "next" {
  source = "../e13"
}
