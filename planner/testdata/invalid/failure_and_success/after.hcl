job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
  predecessor {
    job    = job.a
    run_if = "failure"
  }
  predecessor {
    job    = job.a
    run_if = "success"
  }
}
