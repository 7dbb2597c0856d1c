job "a" {
  type = "noop"
  retry {
    max_attempts = 2
  }
  dynamic "retry" { # ERROR: Duplicate block | only one retry block; the first is at
    for_each = [1]
    content {
      max_attempts = retry.value
    }
  }
}
