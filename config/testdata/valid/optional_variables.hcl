#! optional
variable "unused" {}
job "a" { type = "noop" }
