job "x" {
  type = "noop"
}
