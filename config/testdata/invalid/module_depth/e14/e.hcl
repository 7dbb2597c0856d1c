module "next" {
  source = "../e15"
}
