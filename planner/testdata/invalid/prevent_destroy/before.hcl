job "a" {
  type     = "noop"
  triggers = { version = 1 }
  lifecycle {
    prevent_destroy = true
    on_change       = "cancel"
  }
}
