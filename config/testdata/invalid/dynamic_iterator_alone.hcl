job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = [1]
    content {
      max_attempts = retry      # ERROR: Invalid reference | "retry" alone is no value: write retry.key or retry.value.
      max_lost     = retry.name # ERROR: Invalid reference | "name" is no attribute of retry, which has key and value.
    }
  }
  timeout = retry.value # ERROR: Invalid reference | There is nothing named "retry"
}
