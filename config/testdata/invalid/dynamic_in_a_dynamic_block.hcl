job "a" {
  type = "noop"
  dynamic "dynamic" { # ERROR: Unsupported block | A dynamic block cannot be made by a dynamic block
    for_each = [1]
    content {}
  }
  dynamic "retry" {
    for_each = [1]
    content {
      dynamic "exec" { # ERROR: Unsupported block | A retry block has no block "dynamic"
        for_each = [1]
        content {}
      }
    }
  }
}
