job "a" {
  type = "noop"
}
