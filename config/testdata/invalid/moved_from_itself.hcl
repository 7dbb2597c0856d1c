workflow "orders" {
  moved_from = "orders" # ERROR: Invalid move | The workflow is "orders" already
}
job "a" { type = "noop" }
