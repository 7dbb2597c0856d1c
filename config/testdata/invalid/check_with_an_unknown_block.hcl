job "a" {
  type = "noop"
}
check "c" {
  data "x" "y" { # ERROR: Unsupported block | A check block has no block "data".
  }
  assert {
    condition     = each.key == "x" # ERROR: Invalid reference | each is only known inside a job with for_each, and not in a check.
    error_message = "No."
  }
}
