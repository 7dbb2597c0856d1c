job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = [retry.value] # ERROR: Invalid reference | There is nothing named "retry"
    content {
      max_attempts = retry.value
    }
  }
}
