module "next" {
  source = "../d16"
}
