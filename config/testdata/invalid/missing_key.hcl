job "a" {
  for_each = toset(["eu", "us"])
  type     = "noop"
}
job "b" {
  count = 2
  type  = "noop"
}
job "c" {
  type = "noop"
  predecessor { job = job.a } # ERROR: Missing key of a job | Write job.a["eu"] for one of them
}
job "d" {
  type = "noop"
  parent { job = job.b } # ERROR: Missing key of a job | Write job.b[0] for one of them
}
output "o" { value = job.a.uuid } # ERROR: Missing key of a job | [for j in job.a : j.uuid] for all
