module "a" { # ERROR: Missing input of a module | needs a value for its variable "size"
  source = "./m"
  siez   = 3 # ERROR: Unknown input of a module | no variable "siez". Did you mean "size"?
}
module "b" {
  source     = "./m"
  size       = "many"       # ERROR: Invalid value of a variable | Variable "size" of module.b, declared at testdata/invalid/module_inputs/m/m.hcl:1, has the type number
  odd        = 1            # ERROR: Unknown input of a module | Declare it there: variable "odd" {}.
  version    = "1.0"        # ERROR: Unknown input of a module | nothing to choose from
  depends_on = [job.a]      # ERROR: Unknown input of a module | predecessor { jobs = module.NAME }
}
module "c" {
  source = "./m"
  size   = null # ERROR: Invalid value of a variable | is not nullable and has no default
  name   = local.nowhere # ERROR: Reference to undeclared local
}
module "d" {
  source = "./m"
  size   = 11 # ERROR: Variable failed its validation | At most ten, and not 11. This was checked by the validation rule at testdata/invalid/module_inputs/m/m.hcl:5. This is in module.d.
}
module "e" {
  source   = "./m"
  for_each = { one = 1, two = "x", three = 12 }
  size     = each.value # ERROR: Invalid value of a variable | Variable "size" of module.e || ERROR: Variable failed its validation | This is in module.e["three"].
}
module "f" {
  source = "./m"
  count  = 2
  size   = each.key # ERROR: Invalid reference | each is only known inside
}
module "g" {
  source = "./m"
  size   = 1
  name   = [for i in range(64) : local.k] # ERROR: Value too large
}
job "a" {
  type = "noop"
}
locals {
  k = join("", [for i in range(1024) : format("%01024d", i)])
}
module "h" {
  source = "./m"
  size   = job.a.result.rows # ERROR: Result cannot stand here | Inputs of modules are made before any job runs. Give the module the job instead, such as after = job.NAME, and read its result in there: var.after.result.KEY.
}
