module "m0" {
  source = "../l4"
}
module "m1" {
  source = "../l4"
}
module "m2" {
  source = "../l4"
}
module "m3" {
  source = "../l4"
}
module "m4" {
  source = "../l4"
}
module "m5" {
  source = "../l4"
}
module "m6" {
  source = "../l4"
}
module "m7" {
  source = "../l4"
}
module "m8" {
  source = "../l4"
}
module "m9" {
  source = "../l4"
}
