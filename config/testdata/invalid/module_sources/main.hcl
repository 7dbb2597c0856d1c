module "ok" {
  source = "./ok"
}
module "registry" {
  source = "team/load/waybill" # ERROR: Invalid source of a module | begin with ./ or ../
}
module "no_dot" {
  source = "ok" # ERROR: Invalid source of a module | Did you mean "./ok"?
}
module "computed" {
  source = "./${local.dir}" # ERROR: Invalid source of a module | written out
}
module "number" {
  source = 3 # ERROR: Invalid source of a module | written out
}
module "nowhere" {
  source = "./nowhere" # ERROR: Invalid source of a module | "nowhere" does not exist
}
module "file" {
  source = "./main.hcl" # ERROR: Invalid source of a module | is a directory. Name the directory
}
module "empty" {
  source = "./empty" # ERROR: No configuration files | has no *.hcl
}
module "none" { # ERROR: Missing argument | needs the argument "source"
}
module "both" {
  source   = "./ok"
  count    = 1 # ERROR: Both count and for_each | Module "both" has both
  for_each = {}
}
module "me" {
  source = "./" # ERROR: Module that includes itself | Module "me" is the workflow itself, so there would be no end: . -> ./. 
}
module "back" {
  source = "./back"
}
module "loop" {
  source = "./loop"
}
module "ok" { # ERROR: Duplicate name | already a module named "ok"
  source = "./ok"
}
module "bad name" { # ERROR: Invalid name
  source = "./ok"
}
module "text" {
  source = "./ok"
  inputs { # ERROR: Unsupported block | A module block has no block "inputs"
  }
}
module { # ERROR: Missing label | A module block needs its name
  source = "./ok"
}
locals {
  dir = "ok"
}
