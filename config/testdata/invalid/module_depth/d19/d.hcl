module "next" {
  source = "../d20"
}
