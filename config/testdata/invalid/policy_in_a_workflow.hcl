required_labels = ["team"] # ERROR: Unsupported argument | give it with -policy=FILE
job "a" {
  type = "noop"
}
deny "b" { # ERROR: Unsupported block | give it with -policy=FILE
  condition     = plan.summary.add > 1
  error_message = "No."
}
output "c" {
  value = plan.summary # ERROR: Invalid reference | known to policies alone
}
