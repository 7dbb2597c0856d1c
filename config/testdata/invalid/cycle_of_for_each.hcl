locals {
  keys = keys(job.a) # ERROR: Values in a cycle | local.keys -> job.a -> job.b -> local.keys
}
job "a" {
  for_each = job.b
  type     = "noop"
}
job "b" {
  for_each = toset(local.keys)
  type     = "noop"
}
