module "next" {
  source = "../d13"
}
