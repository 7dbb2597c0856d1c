job "load" {
  type = "noop"
  triggers { # ERROR: Unsupported block | write triggers = VALUE
    a = 1
  }
}
