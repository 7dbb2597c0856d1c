required_label = ["team"] # ERROR: Unsupported argument | Did you mean "required_labels"?
deny "a" { # ERROR: Missing argument | needs the argument "condition"
  conditon      = true # ERROR: Unsupported argument | Did you mean "condition"?
  error_message = "No."
}
warn "b" { # ERROR: Missing argument | "error_message"
  condition = true
}
dany "c" { # ERROR: Unsupported block | Did you mean "deny"?
}
variable "d" { # ERROR: Unsupported block | The top level of a policy has no block "variable".
}
deny { # ERROR: Missing label | write deny "NAME" { ... }
}
deny "e" "f" { # ERROR: Unexpected label | one label
}
deny "g" {
  condition     = true
  error_message = "No."
  retry { # ERROR: Unsupported block | A deny block has no block "retry".
  }
}
