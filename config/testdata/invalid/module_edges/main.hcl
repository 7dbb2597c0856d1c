module "m" {
  source = "./m"
  before = job.a
}
module "many" {
  source   = "./m"
  for_each = { eu = 1 }
  before   = "job.a"
}
module "none" {
  source = "./none"
}
variable "token" {
  default   = "s3cret"
  sensitive = true
}
job "a" {
  type = "noop"
  predecessor { job = module.m } # ERROR: Invalid upstream job | A module is no job. Write jobs = [MODULE]
  predecessor { job = module.m.name } # ERROR: Invalid upstream job | Job needs a job, such as job.NAME, and this is a string.
  predecessor { jobs = module.none } # ERROR: No jobs to wait for | No job is declared in module.none
  predecessor { jobs = module.many["uk"] } # ERROR: No such job instance | Module "many" has no instance with the key "uk".
  predecessor { jobs = [module.many["us"]] } # ERROR: No such job instance
  predecessor { jobs = module.m[0] } # ERROR: Invalid reference | has neither count nor for_each
  predecessor { jobs = module.n } # ERROR: Reference to undeclared module
  predecessor { jobs = [module.many[var.token]] } # ERROR: Sensitive value not allowed | The key of a module
}
job "v" {
  type = "noop"
  predecessor { jobs = values(module.many) } # ERROR: Invalid upstream job | The value of a module is its outputs
}
job "b" {
  for_each = toset(["x"])
  type     = "noop"
  predecessor { jobs = module.many[each.key] } # ERROR: No such job instance
  predecessor { jobs = module.m[each.key] } # ERROR: Invalid reference | has neither count nor for_each
}
module "silent" {
  source = "./silent"
}
job "c" {
  type = "noop"
  dynamic "predecessor" {
    for_each = { m = module.m }
    content {
      jobs = predecessor.value # ERROR: Invalid upstream job | The value of a module is its outputs
    }
  }
  dynamic "predecessor" {
    for_each = [module.silent]
    content {
      jobs = predecessor.value # ERROR: Invalid upstream job | this holds a module without outputs. The value of a module is its outputs
    }
  }
}
