job "a" {
  dynamic "exec" { # ERROR: Missing block | A dynamic block needs the block content { ... }, with what stands in each exec block.
    for_each = [1]
  }
}
