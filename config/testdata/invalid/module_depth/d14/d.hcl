module "next" {
  source = "../d15"
}
