job "a" { type = "noop" }
job "b" {
  type = "noop"
  predecessor { job = job.a[0] } # ERROR: Invalid reference | neither count nor for_each
}
