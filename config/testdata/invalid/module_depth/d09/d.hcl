module "next" {
  source = "../d10"
}
