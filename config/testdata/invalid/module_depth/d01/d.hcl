module "next" {
  source = "../d02"
}
