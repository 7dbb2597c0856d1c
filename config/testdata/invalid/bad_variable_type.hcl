variable "a" {
  type = "string" # ERROR: Invalid type | type = string
}
variable "b" {
  type = strnig # ERROR: Invalid type specification
}
