#! var list=["s3cret"]
variable "list" {
  type      = list(string)
  sensitive = true
}
job "a" {
  type = "noop"
  dynamic "retry" {
    for_each = var.list # ERROR: Sensitive value not allowed | decides how many blocks there are
    content {
      max_attempts = length(retry.value)
    }
  }
}
