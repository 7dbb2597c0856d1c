module "next" {
  source = "../d04"
}
