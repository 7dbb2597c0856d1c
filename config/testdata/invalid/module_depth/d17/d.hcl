module "next" {
  source = "../d18"
}
