job "a" { type = "noop" }
job "b" { type = "noop" }
import {
  to = job.a
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
import { # ERROR: Invalid import | is about job.a too
  to = job.a
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b12"
}
import { # ERROR: Invalid import | takes this job for job.a
  to = job.b
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
