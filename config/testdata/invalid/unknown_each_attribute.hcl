job "a" {
  for_each = toset(["x"])
  type     = "noop"
  queue    = each.name # ERROR: Invalid reference | which has key and value
}
