module "next" {
  source = "../d14"
}
