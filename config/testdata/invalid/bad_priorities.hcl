job "a" {
  type     = "noop"
  priority = 3 # ERROR: Value out of range | from 0 to 2
}
job "b" {
  type     = "noop"
  priority = "hihg" # ERROR: Unknown choice | Did you mean "high"?
}
job "c" {
  type     = "noop"
  priority = 1.5 # ERROR: Value out of range | not 1.5
}
job "d" {
  type     = "noop"
  priority = [1] # ERROR: Wrong type of value | Priority needs a number
}
