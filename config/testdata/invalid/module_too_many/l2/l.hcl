module "m0" {
  source = "../l3"
}
module "m1" {
  source = "../l3"
}
module "m2" {
  source = "../l3"
}
module "m3" {
  source = "../l3"
}
module "m4" {
  source = "../l3"
}
module "m5" {
  source = "../l3"
}
module "m6" {
  source = "../l3"
}
module "m7" {
  source = "../l3"
}
module "m8" {
  source = "../l3"
}
module "m9" {
  source = "../l3"
}
