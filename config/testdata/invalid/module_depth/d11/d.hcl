module "next" {
  source = "../d12"
}
