job "a" {
  type     = "noop"
  triggers = { version = 2 }
  lifecycle {
    prevent_destroy = true
    on_change       = "cancel"
  }
}
