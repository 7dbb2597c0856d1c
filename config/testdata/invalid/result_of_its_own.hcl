job "a" {
  type    = "t"
  payload = { n = job.a.result.n } # ERROR: Job waits for itself | What an execution leaves for the next one is its sync state
}
