module "one" {
  source = "../loop" # ERROR: Module that includes itself | a module that this one is a part of, so there would be no end: ./loop -> ../loop2 -> ../loop.
}
module "self" {
  source = "./../loop2" # ERROR: Module that includes itself | is this module itself
}
