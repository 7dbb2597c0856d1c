job "a" {
  dynamic "exec" {
    for_each = [1]
    content { # ERROR: Missing argument | An exec block needs the argument "command".
      shell = true
    }
  }
}
