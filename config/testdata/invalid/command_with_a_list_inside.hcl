job "a" {
  exec {
    command = ["echo", ["a"]] # ERROR: Wrong type of value | Command needs a string, and this is a list
  }
}
