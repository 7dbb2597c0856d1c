#! var n=many
#! var l=[1, {}]
#! var o=
#! env WAYBILL_VAR_e=maybe
variable "n" { type = number }
variable "l" { type = list(number) }
variable "o" { type = object({}) }
variable "e" { type = bool }
# ERROR@-var n:1: Invalid value of a variable | Variable "n", declared at testdata/invalid/bad_value_for_type.hcl:5, has the type number
# ERROR@-var l:1: Invalid value of a variable | element 1: a number is required, and this is an object.
# ERROR@-var o:1: Missing expression
# ERROR@environment variable WAYBILL_VAR_e:1: Invalid value of a variable | a bool is required
