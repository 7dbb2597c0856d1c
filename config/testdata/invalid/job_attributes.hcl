job "a" {
  for_each = toset(["x"])
  type     = "noop"
}
job "b" { type = "noop" }
output "b" { value = job.b.uid } # ERROR: Invalid reference | Did you mean "uuid"?
