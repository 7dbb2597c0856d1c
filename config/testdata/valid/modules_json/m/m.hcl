variable "after" {
  type = list(string)
}

job "first" {
  for_each = toset(var.after)
  type     = "noop"
}

job "all" {
  type = "noop"
  dynamic "predecessor" {
    for_each = job.first
    content {
      job = predecessor.value
    }
  }
  precondition {
    condition     = length(job.first) == length(var.after)
    error_message = "never"
  }
}

job "many" {
  count = length(var.after)
  type  = "noop"
  dynamic "parent" {
    for_each = var.after
    iterator = up
    content {
      job = job.first[up.value]
    }
  }
}

check "names" {
  assert {
    condition     = alltrue([for a in var.after : length(a) == 1])
    error_message = "Names are letters."
  }
}

output "all" {
  value = job.all
  precondition {
    condition     = length(var.after) < 10
    error_message = "Too many of ${var.after[0]}."
  }
}
