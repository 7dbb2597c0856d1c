module "next" {
  source = "../e07"
}
