job "load" {
  type   = "noop"
  quueue = "etl" # ERROR: Unsupported argument | Did you mean "queue"?
}
