# Jobs go into modules and come out of them, and with them what is read of their results.
job "first" { type = "t" }

module "m" {
  source   = "./m"
  for_each = toset(["eu", "us"])
  before   = job.first
}

job "last" {
  type = "t"
  payload = {
    eu     = module.m["eu"].job.result.rows
    all    = [for m in module.m : m.job.result.rows]
    splat  = values(module.m)[*].job.result.n
    keyed  = module.m[lower("US")].result
    number = module.m["eu"].result + 1
  }
}
