job "a" {
  type = “noop” # ERROR: Invalid character | Quotes are written as
}
