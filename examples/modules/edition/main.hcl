# One edition of the letter.

variable "language" {
  type        = string
  description = "The code of the language."

  validation {
    condition     = length(var.language) == 2
    error_message = "Languages have codes of two letters, and ${var.language} has not."
  }
}

variable "title" {
  type = string
}

variable "text" {
  description = "The job that writes what is translated here."
}

locals {
  title = "${var.title} (${upper(var.language)})"
}

job "translate" {
  predecessor { job = var.text }
  exec { command = ["echo", "translating into ${var.language}"] }
}

# A module of a module. Two of the same kind, since everything is read twice.
module "proof" {
  source = "../proof"
  count  = 2

  what  = local.title
  after = job.translate
}

job "print" {
  predecessor { jobs = module.proof }
  exec { command = ["echo", "printing ${local.title}, with ${length(module.proof)} proofs:", join(" and ", module.proof[*].by)] }
}

output "printed" {
  value = job.print
}

output "title" {
  value = local.title
}
