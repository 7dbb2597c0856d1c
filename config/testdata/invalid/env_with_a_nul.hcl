job "a" {
  exec {
    command = ["env"]
    env     = { A = "b\u0000" } # ERROR: Invalid text | The value of "A" in env
  }
}
