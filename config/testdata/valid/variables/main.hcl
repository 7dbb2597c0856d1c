#! env WAYBILL_VAR_a=env
#! env WAYBILL_VAR_b=env
#! env WAYBILL_VAR_c=env
#! env WAYBILL_VAR_d=env
#! env WAYBILL_VAR_e=env
#! env WAYBILL_VAR_f=env
#! env WAYBILL_VAR_undeclared=env
#! var e=first
#! var-file testdata/valid/variables/more.vars
#! var f=option
#! var list=["x", "y"]
#! var literal="x", as it is
variable "none" { default = "default" }
variable "a" { default = "default" }
variable "b" { default = "default" }
variable "c" { default = "default" }
variable "d" { default = "default" }
variable "e" { default = "default" }
variable "f" { default = "default" }
variable "list" { type = list(string) }
variable "literal" {}
variable "number" {
  type    = number
  default = "42"
}
variable "null" {
  type    = string
  default = null
}
variable "keeps_default" {
  type     = string
  default  = "default"
  nullable = false
}
output "values" {
  value = [var.none, var.a, var.b, var.c, var.d, var.e, var.f, var.list, var.literal, var.number + 1, var.null, var.keeps_default]
}
