workflow "m" {
  required_version = ">= 9.0" # ERROR: Unsupported version of Waybill
  namespace        = "m" # ERROR: Not in a module | "namespace" is a setting of the whole workflow
  redis { # ERROR: Not in a module | "redis" is a setting of the whole workflow
    url = "redis://x"
  }
}
queue "q" { # ERROR: Not in a module | Queues have one setting for all jobs
  concurrency = 1
}
job "a" {
  type = "noop"
}
