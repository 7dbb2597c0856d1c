variable "day" { default = "x" }
job "a" {
  type = "noop"
  lifecycle { replace_triggered_by = job.b } # ERROR: Invalid lifecycle | is a list of jobs, such as [job.extract]
}
job "b" {
  type = "noop"
  lifecycle { replace_triggered_by = [var.day] } # ERROR: Invalid lifecycle | write triggers = { NAME = VALUE }
}
job "c" {
  type = "noop"
  lifecycle { replace_triggered_by = [job.b.uuid] } # ERROR: Invalid lifecycle | holds jobs and nothing else
}
job "d" {
  type = "noop"
  lifecycle { replace_triggered_by = [job.d] } # ERROR: Job waits for itself | run again whenever it runs again
}
job "e" {
  type = "noop"
  lifecycle { replace_triggered_by = [job.bb] } # ERROR: Reference to undeclared job
}
