# Somebody reads it.

variable "what" {
  type = string
}

variable "after" {}

variable "reader" {
  type    = string
  default = "a reader"
}

job "read" {
  predecessor { job = var.after }
  exec { command = ["echo", "${var.reader} reads ${var.what}"] }
}

output "by" {
  value = var.reader
}
