job "a" {
  type = "noop"
  lifecycle { on_change = "wait" } # ERROR: Unknown choice | "finish", "cancel", "ignore"
}
variable "safe" { default = true }
job "b" {
  type = "noop"
  lifecycle { prevent_destroy = var.safe } # ERROR: Invalid lifecycle | Prevent_destroy is true or false, written out
}
job "c" {
  type = "noop"
  lifecycle { prevent_destroy = "yes" } # ERROR: Wrong type of value | Prevent_destroy needs true or false, and this is a string
}
