#! var secret=s3cret
variable "secret" {
  type      = string
  sensitive = true
}
job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
  dynamic "predecessor" {
    for_each = { key = var.secret }
    content {
      job    = job.a
      run_if = predecessor.value # ERROR: Sensitive value not allowed | the element "key"
    }
  }
}
