job "a" {
  type     = "noop"
  triggers = [1] # ERROR: Wrong type of value | Triggers needs an object
}
