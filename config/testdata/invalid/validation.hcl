#! var day=tomorrow
variable "day" {
  type = string
  validation {
    condition     = can(regex("^[0-9-]+$", var.day))
    error_message = "Write the day as 2026-11-20."
  }
}
variable "n" { # ERROR: Variable failed its validation | n is too small: 1
  default = 1
  validation {
    condition     = var.n > 1
    error_message = "n is too small: ${var.n}."
  }
}
# ERROR@-var day:1: Variable failed its validation | Write the day as 2026-11-20.
