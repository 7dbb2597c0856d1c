job "a" {
  type     = "noop"
  triggers = { x = 1 / 0 } # ERROR: Wrong type of value | Triggers cannot be used: 
}
