job "load" {
  exec {
    command = ["true"]
  }
  exec { # ERROR: Duplicate block | A job block has only one exec block; the first is at
    command = ["false"]
  }
}
