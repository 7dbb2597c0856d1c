variable "before" { type = any }

job "inner" {
  type    = "t"
  payload = { rows = var.before.result.rows, text = "of ${job.other.result.name}" }
}

job "other" { type = "t" }

output "job" { value = job.inner }
output "result" { value = 5 }
