job { # ERROR: Missing label | write job "NAME" { ... }
  type = "noop"
}
