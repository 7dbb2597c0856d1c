module "next" {
  source = "../e11"
}
