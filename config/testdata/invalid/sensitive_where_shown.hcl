#! var key=s3cret
variable "key" {
  type      = string
  sensitive = true
}
job "a" {
  type  = "noop"
  queue = var.key # ERROR: Sensitive value not allowed | Queue is shown in plans
}
job "b" {
  for_each = toset([var.key]) # ERROR: Sensitive value not allowed | addresses of jobs
  type     = "noop"
}
job "c" {
  type     = "noop"
  triggers = { key = var.key } # ERROR: Sensitive value not allowed | nonsensitive(sha256(VALUE))
}
job "d" {
  exec {
    command = ["cat"]
    inputs  = [var.key] # ERROR: Sensitive value not allowed | The names of inputs
  }
}
job "e" {
  count = length(var.key) # ERROR: Sensitive value not allowed | Count decides on the addresses
  type  = "noop"
}
output "o" { value = "key: ${var.key}" } # ERROR: Sensitive value not allowed | Set sensitive = true in the output
job "f" {
  http {
    url = "${var.key}/x" # ERROR: Invalid URL | the sensitive value is no such URL
  }
}
job "g" {
  for_each = toset(["x"])
  type     = "noop"
}
job "h" {
  type = "noop"
  predecessor { job = job.g[var.key] } # ERROR: Sensitive value not allowed | The key of a job
}
output "p" {
  sensitive = true
  value     = parseint(var.key, 10) # ERROR: Invalid function argument | Its message is not shown
}
