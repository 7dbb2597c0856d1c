module "next" {
  source = "../d19"
}
