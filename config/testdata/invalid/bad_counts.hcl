job "a" {
  count = -1 # ERROR: Value out of range | from 0 to 1000000
  type  = "noop"
}
job "b" {
  count = 1000000000 # ERROR: Value out of range | not 1000000000
  type  = "noop"
}
job "c" {
  count = "two" # ERROR: Wrong type of value | Count needs a number
  type  = "noop"
}
job "d" {
  count = null # ERROR: Wrong type of value | Count cannot be null
  type  = "noop"
}
job "e" {
  count = 1.5 # ERROR: Value out of range | not 1.5
  type  = "noop"
}
