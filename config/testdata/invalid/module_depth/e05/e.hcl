module "next" {
  source = "../e06"
}
