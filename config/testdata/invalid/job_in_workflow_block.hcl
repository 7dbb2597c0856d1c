workflow "w" {
  namespace = local.space
}
locals {
  space = job.a.uuid # ERROR: Invalid reference | The workflow block refers to local.space
}
job "a" { type = "noop" }
queue "q" {
  paused = job.a.uuid == "" # ERROR: Invalid reference | A queue cannot refer to job
}
