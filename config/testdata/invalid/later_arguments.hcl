workflow "w" {
  moved_from = "v" # ERROR: Not supported by this version | The argument "moved_from" of a workflow block
  proto { # ERROR: Not supported by this version
    files = []
  }
}
job "a" {
  type = "noop"
  lifecycle {
    prevent_destroy      = true # ERROR: Not supported by this version
    ignore_changes       = []   # ERROR: Not supported by this version
    replace_triggered_by = []   # ERROR: Not supported by this version
  }
}
