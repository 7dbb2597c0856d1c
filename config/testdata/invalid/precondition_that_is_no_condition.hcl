job "a" {
  type = "noop"
  precondition {
    condition     = "perhaps" # ERROR: Wrong type of value | Condition needs true or false
    error_message = "No."
  }
  precondition {
    condition     = true
    error_message = ["No."] # ERROR: Wrong type of value | Error_message needs a string
  }
  precondition {
    condition     = null # ERROR: Wrong type of value | Condition cannot be null.
    error_message = "No."
  }
}
