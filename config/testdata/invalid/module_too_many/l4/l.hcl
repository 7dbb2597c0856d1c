module "m0" {
  source = "../l5"
}
module "m1" {
  source = "../l5"
}
module "m2" {
  source = "../l5"
}
module "m3" {
  source = "../l5"
}
module "m4" {
  source = "../l5"
}
module "m5" {
  source = "../l5"
}
module "m6" {
  source = "../l5"
}
module "m7" {
  source = "../l5"
}
module "m8" {
  source = "../l5"
}
module "m9" { # ERROR: Too many modules | call each other more than 10000 times
  source = "../l5"
}
