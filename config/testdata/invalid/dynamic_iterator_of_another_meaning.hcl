job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = [1]
    iterator = each # ERROR: Invalid name | "each" means something else in expressions
    content {
      max_attempts = 2
    }
  }
}
