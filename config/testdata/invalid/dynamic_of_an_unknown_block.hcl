job "a" {
  dynamic "predecesor" { # ERROR: Unsupported block | A job block has no block "predecesor" that could be made for each element. Did you mean "predecessor"?
    for_each = []
    content {
      jobs = []
    }
  }
}
