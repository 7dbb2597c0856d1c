deny "a" { # ERROR: Unclosed configuration block | no closing brace
  condition     = plan.summary.add > 1
  error_message = "No."
