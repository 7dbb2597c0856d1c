job "a" {
  dynamic "exec" { # ERROR: Missing argument | A dynamic block needs the argument "for_each"
    content {
      command = ["x"]
    }
  }
}
