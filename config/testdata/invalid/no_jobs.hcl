job "none" {
  count = 0
  type  = "noop"
}
job "a" {
  type = "noop"
  predecessor { jobs = [] } # ERROR: No jobs to wait for | Jobs is empty, so there is nothing to wait for. Name at least one job, or remove the block.
  predecessor {
    run_if = "failure"
    jobs   = job.none # ERROR: No jobs to wait for | this job would never start
  }
}
