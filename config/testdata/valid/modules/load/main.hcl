workflow "load" {
  required_version = ">= 0.1"
}

variable "region" {
  type = string
  validation {
    condition     = length(var.region) < 20
    error_message = "The region ${var.region} is too long."
  }
}

variable "size" {
  type    = number
  default = 1
}

variable "name" {
  type     = string
  default  = "none"
  nullable = false
}

variable "token" {
  sensitive = true
}

variable "after" {}

locals {
  label = upper("${var.region}-${var.name}")
  parts = range(var.size)
}

job "fetch" {
  exec {
    command = ["fetch", local.label]
    env     = { TOKEN = var.token }
  }
  predecessor { job = var.after }
}

job "part" {
  count = var.size
  exec {
    command = ["split", "${var.region}-${count.index}", path.module]
  }
  parent { job = job.fetch }
}

job "done" {
  type    = "noop"
  triggers = { text = file("${path.module}/note.txt") }
  predecessor { jobs = job.part }
}

output "last" {
  value = job.done
}

output "region" {
  value = var.region
}

output "secret" {
  value     = "${var.token}!"
  sensitive = true
}

output "days" {
  value = length(local.parts)
}
