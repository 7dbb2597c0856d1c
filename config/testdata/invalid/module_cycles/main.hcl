module "a" {
  source = "./a"
  in     = module.b.out # ERROR: Values in a cycle | module.a.var.in -> module.b.output.out -> module.b.var.in -> module.a.output.out -> module.a.var.in
}
module "b" {
  source = "./b"
  in     = module.a.out
}
module "self" {
  source = "./a"
  in     = module.self # ERROR: Values in a cycle | module.self.var.in -> module.self.output.out -> module.self.var.in
}
module "counted" {
  source = "./a"
  count  = length(module.counted) # ERROR: Values in a cycle
  in     = 1
}
locals {
  x = module.c[*].out # ERROR: Values in a cycle | local.x -> module.c.output.out -> module.c.var.in -> local.x
}
module "c" {
  source = "./a"
  count  = 2
  in     = local.x
}
module "inner" {
  source = "./b"
  in     = 1
}
