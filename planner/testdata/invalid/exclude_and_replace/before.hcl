job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
  predecessor {
    job    = job.a
  }
}
