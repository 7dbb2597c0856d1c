module "next" {
  source = "../d11"
}
