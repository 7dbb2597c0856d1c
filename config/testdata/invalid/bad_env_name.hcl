job "a" {
  exec {
    command = ["true"]
    env     = { "A=B" = "c" } # ERROR: Invalid key | cannot be the name of a variable
  }
}
