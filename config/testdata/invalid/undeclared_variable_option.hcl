#! var dya=2026-11-20
#! var noequals
variable "day" { default = "x" }
# ERROR@-var dya:1: Undeclared variable | Did you mean "day"?
# ERROR@-var noequals:1: Invalid option | -var NAME=VALUE
