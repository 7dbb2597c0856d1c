variable "token" {}
variable "size" {}
output "open" {
  value = var.token # ERROR: Sensitive value not allowed | Output "open" is made from a sensitive value, so it would show it. Set sensitive = true in the output, or nonsensitive() around what may be shown. This is in module.m["a"].
}
output "secret" {
  value     = var.token
  sensitive = true
}
output "large" {
  value = [for i in range(64) : local.k] # ERROR: Value too large | The value of output "large"
}
locals {
  k = join("", [for i in range(1024) : format("%01024d", i)])
}
job "b" {
  type    = "noop"
  queue   = "q${var.size == 2 ? " x" : ""}" # ERROR: Invalid name | This is in module.m["b"].
  timeout = "soon" # ERROR: Invalid duration | This is in module.m["a"].
}
job "c" {
  exec { # ERROR: Missing argument | An exec block needs the argument "command".
  }
}
job "d" {
  count = var.size
  type  = "noop"
  odd   = 1 # ERROR: Unsupported argument
}
