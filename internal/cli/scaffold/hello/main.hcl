# Two jobs, one after the other.
#
#     waybill plan
#     waybill apply

workflow "hello" {}

variable "name" {
  description = "Whom to greet."
  type        = string
  default     = "world"
}

job "greet" {
  exec {
    command = ["echo", "Hello, ${var.name}!"]
  }
}

job "leave" {
  predecessor { job = job.greet }

  exec {
    command = ["echo", "Goodbye, ${var.name}."]
  }
}
