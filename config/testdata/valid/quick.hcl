#! quick
workflow "quick" {
  namespace = local.space
  redis { url = "redis://${var.host}:6379" }
}
variable "host" { default = "localhost" }
variable "needed" {}
locals {
  space = "${local.stage}-x"
  stage = "test"
  other = job.a.uuid
  more  = var.needed
}
job "a" {
  type  = "noop"
  queue = var.needed
}
output "o" { value = var.needed }
