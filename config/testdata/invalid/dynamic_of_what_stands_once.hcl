job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = [1, 2] # ERROR: Duplicate block | This makes 2 retry blocks, and a job block has only one. Let for_each have at most one element
    content {
      max_attempts = retry.value
    }
  }
}
