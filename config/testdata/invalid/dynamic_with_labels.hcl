job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = [1]
    labels   = ["x"] # ERROR: Unsupported argument | No block inside of a job has a label
    content {
      max_attempts = retry.value
    }
  }
}
