workflow "w" {
  proto { # ERROR: Missing argument | needs the argument "files", a list of .proto files, or "descriptor_set"
  }
}
job "a" { type = "noop" }
