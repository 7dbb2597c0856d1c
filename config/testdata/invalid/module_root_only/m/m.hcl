workflow "m" {
  required_version = ">= 9.0" # ERROR: Unsupported version of Waybill
  namespace        = "m" # ERROR: Not in a module | "namespace" is a setting of the whole workflow
  redis { # ERROR: Not in a module | "redis" is a setting of the whole workflow
    url = "redis://x"
  }
}
import { # ERROR: Not in a module | What the store holds belongs to the whole workflow
  to = job.a
  id = "0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11"
}
queue "q" { # ERROR: Not in a module | Queues have one setting for all jobs
  concurrency = 1
}
job "a" {
  type = "noop"
}
