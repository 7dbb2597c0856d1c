job "a" { type = "noop" }
job "each" {
  for_each = toset(["x"])
  type     = "noop"
}
import {
  to = job.a
  id = "no uuid" # ERROR: Invalid import | this is "no uuid"
}
import {
  to = job.gone # ERROR: Invalid import | job.gone is not declared
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
import {
  to = module.gone # ERROR: Invalid import | is one job
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
import {
  to = "job.a" # ERROR: Invalid move | Write it without quotes: job.a
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
import { # ERROR: Missing argument | needs the argument "id"
  to = job.a
}
