job "load" {
  exec {
    command = ["true"]
    environ = {} # ERROR: Unsupported argument | An exec block has no argument "environ"
  }
}
