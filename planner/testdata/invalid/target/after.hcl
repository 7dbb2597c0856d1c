job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
}
