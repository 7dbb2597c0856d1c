module "two" {
  source = "../loop2"
}
