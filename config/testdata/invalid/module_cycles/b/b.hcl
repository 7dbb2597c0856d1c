variable "in" {}
output "out" {
  value = var.in
}
locals {
  y = local.y # ERROR: Values in a cycle | module.b.local.y refers to itself.
}
