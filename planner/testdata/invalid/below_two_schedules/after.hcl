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
}
job "c" {
  type = "noop"
  predecessor {
    job    = job.a
  }
  predecessor {
    job    = job.b
  }
}
