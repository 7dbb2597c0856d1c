module "one" {
  source = "./m"
}
module "many" {
  source   = "./m"
  for_each = { eu = 1, us = 2 }
}
module "counted" {
  source = "./m"
  count  = 2
}
output "a" {
  value = [
    module.oen.name, # ERROR: Reference to undeclared module | No module "oen" is declared. Did you mean "one"?
    module.two.name, # ERROR: Reference to undeclared module | Declare it: module "two"
    module.one.nam, # ERROR: Reference to undeclared output | has no output "nam". Did you mean "name"?
    module.one.load, # ERROR: Reference to undeclared output | output "load" { value = job.load }
    module.one.other, # ERROR: Reference to undeclared output | output "other" { value = VALUE }
    module.one[0].name, # ERROR: Invalid reference | Module "one" has neither count nor for_each
    module.many.name, # ERROR: Missing key of a job | Write module.many["eu"].name for one of them, or [for m in module.many : m.name] for all.
    module.counted.name, # ERROR: Missing key of a job | Write module.counted[0].name
    module.many["uk"].name, # ERROR: No such job instance | Module "many" has no instance with the key "uk".
    module.many[0].name, # ERROR: No such job instance | Its keys are strings, such as "eu".
    module.counted[2].name, # ERROR: No such job instance | It has count = 2: module.counted[0] to module.counted[1].
    module.counted[*].nam, # ERROR: Reference to undeclared output
    module, # ERROR: Invalid reference | write module.NAME
    job.one, # ERROR: Reference to undeclared job
  ]
}
workflow "w" {
  namespace = module.one.name # ERROR: Invalid reference | The workflow block cannot refer to module.
  redis {
    url = local.url
  }
}
locals {
  url = "redis://${module.one.name}" # ERROR: Invalid reference | cannot refer to modules: commands need the block
}
queue "q" {
  concurrency = module.one.name # ERROR: Invalid reference | A queue cannot refer to module.
}
