job "a" {
  type = "noop"
  dynamic { # ERROR: Missing label | A dynamic block needs its block type: write dynamic "NAME" { ... }.
    for_each = [1]
    content {}
  }
}
