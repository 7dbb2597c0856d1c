workflow "w" {
  moved_from = "v" # ERROR: Not supported by this version | The argument "moved_from" of a workflow block
  proto { # ERROR: Not supported by this version
    files = []
  }
}
job "a" { type = "noop" }
