job "load" {
  type = "noop"
  type = "noop" # ERROR: Attribute redefined | already set at
}
