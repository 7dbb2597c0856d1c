job "a" {
  for_each = toset(["x"])
  type     = "noop"
}
job "b" { type = "noop" }
output "a" { value = job.b.result.rows } # ERROR: Not supported by this version | Results of jobs
output "b" { value = job.b.uid }         # ERROR: Invalid reference | Did you mean "uuid"?
output "c" { value = [for k in ["x"] : job.a[k].result] } # ERROR: Unsupported attribute
output "d" { value = job.a["x"].result.rows } # ERROR: Not supported by this version
output "e" { value = job.a[lower("X")].result.rows } # ERROR: Not supported by this version
