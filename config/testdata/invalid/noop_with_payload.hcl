job "a" {
  type    = "noop"
  payload = {} # ERROR: Conflicting arguments | put the value into triggers
}
