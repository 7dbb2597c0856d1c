job "a" {
  exec {
    command = ["echo", "a\u0000b"] # ERROR: Invalid text | NUL byte
  }
}
