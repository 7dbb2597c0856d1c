job "a" { type = "noop" }
job "b" {
  type = "noop"
  parent { on_child_failure = "ignore" } # ERROR: Missing argument | A parent block says whom it waits for
  predecessor { # ERROR: Missing argument | jobs = [job.A, job.B]
    run_if = "success"
  }
}
job "c" {
  type = "noop"
  predecessor {
    job  = job.a
    jobs = [job.a] # ERROR: Conflicting arguments | one of job, jobs, uuid
  }
}
