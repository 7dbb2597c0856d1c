module "next" {
  source = "../e14"
}
