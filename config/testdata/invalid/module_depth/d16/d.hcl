module "next" {
  source = "../d17"
}
