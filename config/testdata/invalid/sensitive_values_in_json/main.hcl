#! var-file testdata/invalid/sensitive_values_in_json/v.json
# In one line of JSON stands all of it.
variable "n" { type = list(number) }
variable "o" {
  type    = object({ name = string, age = optional(number) })
  default = { name = 1 }
}
variable "pin" {
  type      = string
  sensitive = true
}
# ERROR@v.json:1: Invalid value of a variable | has the type list(number), which the value from testdata/invalid/sensitive_values_in_json/v.json does not fit: a list of number is required, and this is a string.
# ERROR@v.json:1: Invalid value of a variable | has the type object({age = optional(number), name = string}), which
