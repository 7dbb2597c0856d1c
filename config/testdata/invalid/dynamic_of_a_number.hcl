job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = 3 # ERROR: Wrong type of value | needs a list, a set, a map or an object, and this is a number
    content {
      max_attempts = 2
    }
  }
}
