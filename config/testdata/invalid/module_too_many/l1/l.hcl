module "m0" {
  source = "../l2"
}
module "m1" {
  source = "../l2"
}
module "m2" {
  source = "../l2"
}
module "m3" {
  source = "../l2"
}
module "m4" {
  source = "../l2"
}
module "m5" {
  source = "../l2"
}
module "m6" {
  source = "../l2"
}
module "m7" {
  source = "../l2"
}
module "m8" {
  source = "../l2"
}
module "m9" {
  source = "../l2"
}
