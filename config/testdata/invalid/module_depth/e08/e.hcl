module "next" {
  source = "../e09"
}
