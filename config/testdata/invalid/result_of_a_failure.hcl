job "a" { type = "noop" }
job "b" {
  type    = "t"
  payload = { n = job.a.result.n } # ERROR: Result cannot stand here | starts only when job.a has failed
  predecessor {
    job    = job.a
    run_if = "failure"
  }
}
