workflow "w" {}
variable "id" { default = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11" }
job "a" { type = "noop" }
job "each" {
  for_each = toset(["x"])
  type     = "noop"
}
import {
  to = job.a
  id = var.id
}
import {
  to = job.each["x"]
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b12"
}
