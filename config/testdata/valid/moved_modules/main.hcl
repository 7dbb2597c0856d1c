module "b" {
  source = "./m"
}
module "keyed" {
  source   = "./m"
  for_each = toset(["x", "y"])
}
module "single" {
  source = "./m"
}
moved {
  from = module.a
  to   = module.b
}
moved {
  from = module.old_keyed
  to   = module.keyed
}
moved {
  from = module.list[0]
  to   = module.keyed["x"]
}
moved {
  from = module.keyed["z"]
  to   = module.single
}
moved {
  from = job.before
  to   = module.b.job.each
}
moved {
  from = module.a.job.lost # into a module that moves on
  to   = module.a.job.found
}
moved {
  from = module.keyed["x"].module.gone[1].job.l
  to   = job.here["k"]
}
job "here" {
  for_each = toset(["k"])
  type     = "noop"
}
