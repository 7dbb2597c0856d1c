job "load" {
  exec "shell" { # ERROR: Unexpected label | write exec { ... }
    command = ["true"]
  }
  type = "noop"
}
