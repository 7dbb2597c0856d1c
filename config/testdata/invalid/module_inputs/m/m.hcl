variable "size" {
  type     = number
  nullable = false
  validation {
    condition     = var.size <= 10
    error_message = "At most ten, and not ${var.size}."
  }
}
variable "name" {
  default = null
}
variable "source" { # ERROR: Invalid name | No variable of a module can be called "source"
  default = null
}
