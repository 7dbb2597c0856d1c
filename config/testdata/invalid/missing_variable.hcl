variable "day" { # ERROR: Missing value of a variable | Set it with -var day=VALUE, in the environment as WAYBILL_VAR_day
  type = string
}
job "a" {
  type    = "noop"
  timeout = var.day
}
