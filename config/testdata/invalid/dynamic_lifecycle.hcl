job "a" {
  type = "noop"
  dynamic "lifecycle" { # ERROR: Unsupported block | A lifecycle block cannot be made by a dynamic block. Write it out.
    for_each = [1]
    content {
      on_change = "cancel"
    }
  }
}
