job "a" {
  type = "noop"
}
output "uuid" {
  value = job.a.uuid
  precondition {
    condition     = length(job.a.address) > 10 # ERROR: Output precondition failed | job.a has a short name, and (known after apply). This is a precondition of output.uuid.
    error_message = "${job.a.address} has a short name, and ${job.a.uuid}."
  }
}
