#! var day=2026-11-20
#! var secret=s3cret

variable "day" {
  type = string
}

variable "secret" {
  type      = string
  sensitive = true
}

job "load" {
  for_each = { eu = 1, us = 2 }
  type     = "noop"

  precondition {
    condition     = can(regex("^\\d{4}-\\d\\d-\\d\\d$", var.day))
    error_message = "The day ${var.day} is no date."
  }

  precondition {
    condition     = each.value > 0 && length(each.key) == 2
    error_message = "${each.key} is no region."
  }

  precondition {
    condition     = length(var.secret) > 3
    error_message = "The secret ${var.secret} is too short."
  }
}

job "numbered" {
  count = 2
  type  = "noop"

  precondition {
    condition     = count.index < 2
    error_message = "There are two of these."
  }
}

output "loads" {
  value = [for j in job.load : j.address]

  precondition {
    condition     = length(job.load) == 2
    error_message = "There should be two regions."
  }
}

check "names" {
  assert {
    condition     = alltrue([for name, j in job.load : strcontains(j.address, name)])
    error_message = "A job has an odd address."
  }
  assert {
    condition     = var.secret != ""
    error_message = "No secret is set."
  }
}
