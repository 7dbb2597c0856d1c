job "load" {
  exec { # ERROR: Missing argument | An exec block needs the argument "command"
    env = {}
  }
}
