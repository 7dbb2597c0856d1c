workflow "orders" {
  moved_from = "old orders" # ERROR: Invalid name | cannot be the name of a workflow
}
job "a" { type = "noop" }
