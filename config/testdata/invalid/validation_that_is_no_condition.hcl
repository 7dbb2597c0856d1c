variable "a" {
  default = 1
  validation {
    condition     = "perhaps" # ERROR: Wrong type of value | Condition needs true or false
    error_message = "x"
  }
  validation {
    condition     = local.b # ERROR: Invalid reference | The validation of a variable cannot refer to local
    error_message = null # ERROR: Wrong type of value | Error_message cannot be null.
  }
}
locals { b = 1 }
