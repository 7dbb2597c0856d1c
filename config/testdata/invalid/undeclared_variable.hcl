variable "day" { default = "x" }

job "a" {
  type  = "noop"
  queue = var.dya # ERROR: Undeclared variable | Did you mean "day"?
}
job "b" {
  type  = "noop"
  queue = var.region # ERROR: Undeclared variable | Declare it: variable "region" {}
}
