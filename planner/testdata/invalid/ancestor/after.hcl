job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
  parent {
    job = job.a
  }
  predecessor {
    job    = job.a
  }
}
