job "load" {
  type = "noop"
  predecesor { # ERROR: Unsupported block | Did you mean "predecessor"?
    job = job.load
  }
}
