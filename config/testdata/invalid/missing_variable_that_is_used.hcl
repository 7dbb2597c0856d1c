#! optional
variable "unused" {}

variable "day" { # ERROR: Missing value of a variable | no value was given
  type = string
}
output "a" { value = var.day }
