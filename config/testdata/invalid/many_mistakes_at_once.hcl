workflow "w" {
  namespace = var.x # ERROR: Undeclared variable
}
locals {
  a = nope()     # ERROR: Call to unknown function
  b = local.a    # silent: local.a is reported
}
variable "v" { # ERROR: Missing value of a variable
}
job "a" {
  type     = "noop"
  queue    = local.b
  priority = 7        # ERROR: Value out of range
  timeout  = var.v
  parent { job = job.zzz } # ERROR: Reference to undeclared job
  predecessor { job = job.b[local.b] }
}
job "b" {
  for_each = local.a
  type     = "noop"
  timeout  = "x${var.q}" # ERROR: Undeclared variable
}
output "o" { value = job.b }
