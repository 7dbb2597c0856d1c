job "load" {
  type = "noop"
}
