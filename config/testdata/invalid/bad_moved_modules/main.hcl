module "one" {
  source = "./m"
}
module "many" {
  source   = "./m"
  for_each = toset(["x"])
}
module "three" {
  source = "./o"
}
module "four" {
  source   = "./o"
  for_each = toset(["x"])
}
moved {
  from = module.three # ERROR: Invalid move | module.three is still declared, at
  to   = module.tow # ERROR: Reference to undeclared module | No module "tow" is declared, so nothing can move there.
}
moved {
  from = module.gone
  to   = job.a # ERROR: Invalid move | module.gone is a module and job.a is a job.
}
moved {
  from = module.four["x"] # ERROR: Invalid move | module.four["x"] is still declared
  to   = module.four["y"] # ERROR: No such job instance | Module "four" has no instance with the key "y".
}
moved {
  from = job.c
  to   = module.many.job.a # ERROR: Missing key of a job | Write module.many["x"] for one of them.
}
moved {
  from = job.d
  to   = module.one[0].job.a # ERROR: No such job instance | Module "one" has neither count nor for_each
}
moved {
  from = job.e
  to   = module.one.job.nowhere # ERROR: Reference to undeclared job | No job "nowhere" is declared in module.one
}
moved {
  from = job.f
  to   = module.one.module.inner.job.a # ERROR: Reference to undeclared module | No module "inner" is declared in module.one
}
moved {
  from = module.same
  to   = module.same # ERROR: Invalid move | From and to are the same module.
}
moved {
  from = module.one.output # ERROR: Invalid move | module.one.output is no address of a job or module. Write module.one
  to   = module.k[1.5].job.a # ERROR: Invalid move | The key of module.k[1.5].job.a is neither
}
moved { # ERROR: Invalid move | These modules move in a circle, so none of them has a place: module.r1 -> module.r2 -> module.r1.
  from = module.r1
  to   = module.r2
}
moved {
  from = module.r2
  to   = module.r1
}
moved {
  from = module.one.job.a # ERROR: Invalid move | module.one.job.a is still declared
  to   = module.many["x"].job.b
}
