locals {
  a = local.b # ERROR: Values in a cycle | local.a -> local.b -> local.c -> local.a
  b = local.c
  c = local.a
  d = local.a
}
output "o" { value = local.d }
