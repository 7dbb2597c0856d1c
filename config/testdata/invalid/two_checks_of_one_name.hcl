job "a" {
  type = "noop"
}
check "c" {
  assert {
    condition     = true
    error_message = "No."
  }
}
check "c" { # ERROR: Duplicate name | There is already a check named "c"
  assert {
    condition     = false
    error_message = "No."
  }
}
