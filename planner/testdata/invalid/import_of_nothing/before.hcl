job "b" {
  type = "noop"
}
