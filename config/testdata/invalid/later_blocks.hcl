removed { # ERROR: Not supported by this version
  from = job.a
}
import { # ERROR: Not supported by this version
  to = job.a
}
job "a" {
  type = "noop"
}
