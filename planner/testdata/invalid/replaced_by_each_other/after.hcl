job "a" {
  type = "noop"
  lifecycle {
    replace_triggered_by = [job.b]
  }
}
job "b" {
  type = "noop"
  lifecycle {
    replace_triggered_by = [job.a]
  }
}
