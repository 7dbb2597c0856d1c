job "a" {
  type = "noop"
  predecessor { job = job.a } # ERROR: Job waits for itself | job.a waits for itself
}
job "b" {
  count = 2
  type  = "noop"
  parent { job = job.b[1] } # ERROR: Job waits for itself | job.b[1] waits for itself
}
