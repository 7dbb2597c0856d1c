job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = [1]
    iterator = "it" # ERROR: Invalid name | Iterator is a name, without quotes
    content {
      max_attempts = retry.value
    }
  }
}
