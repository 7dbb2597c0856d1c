job "a" { type = "noop" }
job "many" {
  for_each = toset(["x"])
  type     = "noop"
}
locals {
  rows = job.a.result.rows # ERROR: Result cannot stand here | The result of job.a is known only when it has run. A local is made before any job runs. Results and secrets may stand in payload, in command, env and stdin of exec, and in url, headers and body of http.
}
output "a" { value = job.a.result.rows } # ERROR: Result cannot stand here | An output is made before any job runs
output "b" { value = job.many["x"].result } # ERROR: Result cannot stand here | The result of job.many["x"]
output "c" { value = [for j in job.many : j.result.rows] } # ERROR: Result cannot stand here
output "d" { value = job.many[lower("X")].result.rows } # ERROR: Result cannot stand here
output "e" { value = job.many.result.rows } # ERROR: Missing key of a job | Write job.many["x"].result for one of them
job "b" {
  count = job.a.result.n # ERROR: Result cannot stand here | Count is made before any job runs
  type  = "noop"
}
job "c" {
  for_each = { x = job.a.result.n } # ERROR: Result cannot stand here | For_each is made before any job runs
  type     = "noop"
}
