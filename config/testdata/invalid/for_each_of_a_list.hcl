job "a" {
  for_each = ["eu", "us"] # ERROR: Wrong type of value | Write toset(...) around
  type     = "noop"
}
job "b" {
  for_each = toset([1, 2]) # ERROR: Wrong type of value | this is a set of number
  type     = "noop"
}
job "c" {
  for_each = "eu" # ERROR: Wrong type of value | count = CONDITION ? 1 : 0
  type     = "noop"
}
job "d" {
  for_each = null # ERROR: Wrong type of value | For_each cannot be null
  type     = "noop"
}
