module "next" {
  source = "../d07"
}
