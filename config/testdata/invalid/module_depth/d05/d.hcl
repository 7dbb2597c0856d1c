module "next" {
  source = "../d06"
}
