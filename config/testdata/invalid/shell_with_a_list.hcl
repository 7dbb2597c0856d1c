job "a" {
  exec {
    shell   = true
    command = ["echo", "hello"] # ERROR: Wrong type of value | With shell = true, command is one string
  }
}
