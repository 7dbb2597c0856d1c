job "a" {
  type = "noop"
}
import {
  to = job.a
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
