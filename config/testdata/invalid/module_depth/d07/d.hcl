module "next" {
  source = "../d08"
}
