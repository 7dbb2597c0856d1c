module "next" {
  source = "../d03"
}
