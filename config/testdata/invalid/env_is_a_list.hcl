job "a" {
  exec {
    command = ["true"]
    env     = ["A=b"] # ERROR: Wrong type of value | Env needs an object of strings
  }
}
