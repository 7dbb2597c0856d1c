module "next" {
  source = "../d09"
}
