module "next" {
  source = "../d05"
}
