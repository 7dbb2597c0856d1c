job "a" {
  exec {
    command = "echo hello" # ERROR: Wrong type of value | or set shell = true
  }
}
