import { # ERROR: Not supported by this version
  to = job.a
}
job "a" {
  type = "noop"
}
