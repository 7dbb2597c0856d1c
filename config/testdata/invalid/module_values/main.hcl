#! var token=s3cret
variable "token" {
  sensitive = true
}
module "m" {
  source   = "./m"
  for_each = { a = 1, b = 2 }
  token    = var.token
  size     = each.value
}
module "s" {
  source   = "./m"
  for_each = toset([var.token]) # ERROR: Sensitive value not allowed | decides on the addresses
  token    = 1
  size     = 1
}
module "t" {
  source   = "./m"
  for_each = ["a"] # ERROR: Wrong type of value | since each module is known by its key
  token    = 1
  size     = 1
}
module "u" {
  source = "./m"
  count  = null # ERROR: Wrong type of value | Leave it out for a single module.
  token  = 1
  size   = 1
}
module "v" {
  source   = "./m"
  for_each = null # ERROR: Wrong type of value | Leave it out for a single module
  token    = 1
  size     = 1
}
module "x" {
  source   = "./m"
  for_each = true # ERROR: Wrong type of value | To make a module depend on a condition
  token    = 1
  size     = 1
}
output "secret" {
  value = module.m["a"].secret # ERROR: Sensitive value not allowed | Output "secret" is made from a sensitive value
}
job "a" {
  type  = "noop"
  queue = module.m["a"].secret # ERROR: Sensitive value not allowed
}
