job "each" {
  for_each = toset(["x"])
  type     = "noop"
}
import {
  to = job.each # ERROR: Invalid import | is not an instance of the block
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
