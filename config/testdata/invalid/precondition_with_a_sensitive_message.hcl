#! var secret=s3cret
variable "secret" {
  type      = string
  sensitive = true
}
job "a" {
  type = "noop"
  precondition {
    condition     = length(var.secret) > 20 # ERROR: Job precondition failed | Its error_message is made from a sensitive value, so it is not shown.
    error_message = "The secret ${var.secret} is short."
  }
}
