workflow "w" {
  proto { # ERROR: Not supported by this version | The block "proto" of a workflow block
    files = []
  }
}
job "a" { type = "noop" }
