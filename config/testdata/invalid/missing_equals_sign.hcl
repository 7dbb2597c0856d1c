job "a" {
  type "noop" # ERROR: Invalid block definition
}
