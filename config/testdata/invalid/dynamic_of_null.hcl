job "a" {
  dynamic "exec" {
    for_each = null # ERROR: Wrong type of value | An empty list makes no blocks: [].
    content {
      command = ["x"]
    }
  }
}
