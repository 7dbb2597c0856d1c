required_labels = ["team"]
required_labels = ["tier"] # ERROR: Duplicate name | the first is at testdata/policy/invalid/twice.hcl:1
locals {
  a = local.b # ERROR: Values in a cycle | local.b
  b = local.a
}
locals {
  a = 1 # ERROR: Duplicate name | There is already a local named "a"
}
deny "x" {
  condition     = plan.summary.destroy > 5
  error_message = "No."
}
warn "x" { # ERROR: Duplicate name | There is already a rule named "x"
  condition     = plan.summary.destroy > 5
  error_message = "No."
}
warn "1x" { # ERROR: Invalid name | cannot be the name of a rule
  condition     = true
  error_message = "No."
}
