job "native" {
  for_each = toset(["x"])
  type     = "noop"
  predecessor { job = job.load }
}
