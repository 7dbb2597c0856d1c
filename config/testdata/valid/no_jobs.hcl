# A block that waits for nothing is satisfied.

variable "checked" { default = false }

job "check" {
  count = var.checked ? 1 : 0
  type  = "noop"
}

job "none" {
  for_each = toset([])
  type     = "noop"
}

job "load" {
  type = "noop"
  predecessor { jobs = job.check }
  predecessor { jobs = values(job.none) }
  predecessor { jobs = [for j in job.check : j] }
  predecessor {
    jobs   = var.checked ? [job.check[0]] : []
    run_if = "always"
  }
}

# What a condition leaves out, or try, need not be there.

output "checked" {
  value = var.checked ? job.check[0].address : try(job.none["eu"].address, "nobody")
}

job "report" {
  type = "noop"
  predecessor { jobs = [job.check, job.load] }
}
