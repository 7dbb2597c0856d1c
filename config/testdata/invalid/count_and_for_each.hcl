job "a" {
  count    = 2 # ERROR: Both count and for_each | has both count and for_each
  for_each = toset(["x"])
  type     = "noop"
}
