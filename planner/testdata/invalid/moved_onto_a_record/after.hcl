job "b" {
  type = "noop"
}
moved {
  from = job.a
  to   = job.b
}
