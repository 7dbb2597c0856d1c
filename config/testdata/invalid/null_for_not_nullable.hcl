#! var n=null
variable "n" {
  type     = list(string)
  nullable = false
}
# ERROR@-var n:1: Invalid value of a variable | is not nullable and has no default
