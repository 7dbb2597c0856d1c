variable "before" {}
job "x" {
  type = "noop"
  predecessor { job = var.before } # ERROR: Invalid upstream job | Write it without quotes: job.a. This is in module.many["eu"].
}
job "y" {
  type = "noop"
  predecessor { job = job.y } # ERROR: Job waits for itself | module.m.job.y waits for itself
}
output "name" {
  value = "m"
}
