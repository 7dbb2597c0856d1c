job "a" {
  exec {
    command = ["echo", null] # ERROR: Wrong type of value | null in a place that needs a string
  }
}
