job "a" {
  type = "noop"
  delivery { to = "all" }
}
job "b" {
  type    = "t"
  payload = { n = job.a.result.n } # ERROR: Invalid upstream job | delivered to all workers
}
