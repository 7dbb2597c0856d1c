job "a" {
  type = "noop"
  dynamic "queue" { # ERROR: Unsupported block | "queue" is an argument and not a block of a job block, so there cannot be several: write queue = VALUE.
    for_each = ["x"]
    content {}
  }
}
