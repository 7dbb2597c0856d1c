#! var-file testdata/invalid/sensitive_values_in_files/typo.vars
# Neither a typo nor a line that cannot be read shows the value of a sensitive variable, and nothing is said to be missing then.
variable "day" { type = string }
variable "pin" {
  type      = string
  sensitive = true
}
job "a" {
  for_each = toset([var.day])
  type     = "noop"
}
# ERROR@waybill.wbvars:1: Missing newline after argument
# WARNING@typo.vars:1: Undeclared variable | Did you mean "pin"?
