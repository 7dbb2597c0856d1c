variable "a" {
  type    = number
  default = "many" # ERROR: Invalid value of a variable | The default of variable "a" does not fit its type number
}
variable "b" {
  nullable = false
  default  = null # ERROR: Invalid value of a variable | its default cannot be null
}
variable "c" {
  default = var.a # ERROR: Variables not allowed
}
variable "d" {
  default   = 1
  sensitive = "perhaps" # ERROR: Wrong type of value | sensitive is either true or false
}
variable "e" {
  default     = 1
  description = ["x"] # ERROR: Wrong type of value | description is a string
}
