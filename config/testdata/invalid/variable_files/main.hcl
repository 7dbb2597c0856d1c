#! var-file testdata/invalid/variable_files/missing.wbvars
#! var-file testdata/invalid/variable_files/more.vars
variable "day" { type = string }
variable "n" { type = number }
variable "secret" { # ERROR: Invalid value of a variable | The value of the sensitive variable "secret"
  type      = string
  sensitive = true
}
# ERROR@waybill.wbvars:2: Invalid value of a variable | the type number
# WARNING@waybill.wbvars:3: Undeclared variable | The file sets "dya", and no such variable is declared. Did you mean "day"?
# ERROR@a.auto.wbvars:1: Invalid value of a variable | The value of variable "day" has a reference, and values from outside can have none. Text is written in quotes.
# ERROR@missing.wbvars:1: Cannot read values of variables | does not exist
# ERROR@more.vars:2: Duplicate name | "other" was already set
# WARNING@more.vars:1: Undeclared variable
# ERROR@b.auto.wbvars:1: Block in a file of values | Blocks such as "variable" stand in *.hcl files
