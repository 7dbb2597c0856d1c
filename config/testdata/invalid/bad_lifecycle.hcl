job "a" {
  type = "noop"
  lifecycle { on_change = "wait" } # ERROR: Unknown choice | "finish", "cancel", "ignore"
}
