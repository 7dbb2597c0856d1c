job "a" { type = "noop" }

job "b" {
  type       = "noop"
  depends_on = [job.a] # ERROR: No depends_on in jobs | Write predecessor { job = job.NAME }
}
