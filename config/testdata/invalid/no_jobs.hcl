job "a" {
  count = 0
  type  = "noop"
}
job "b" {
  type = "noop"
  predecessor { jobs = [] }    # ERROR: No jobs to wait for | Name at least one job
  predecessor { jobs = job.a } # ERROR: No jobs to wait for
}
