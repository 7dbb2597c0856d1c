module "a" {
  source = "./d02"
}
module "b" {
  source = "./d01"
}
module "c" {
  source = "./e01"
}
