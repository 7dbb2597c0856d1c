job "a" {
  type = "noop"
  run_at {
    every = "hour"
  }
}
job "b" {
  type = "noop"
  run_at {
    every = "hour"
  }
  predecessor {
    job    = job.a
  }
}
