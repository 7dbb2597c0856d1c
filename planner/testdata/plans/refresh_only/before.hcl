workflow "orders" {}

variable "day" {
  type    = string
  default = "2026-11-20"
}

job "extract" {
  for_each = toset(["eu", "us"])
  exec { command = ["extract", each.key] }
}

job "clean" {
  for_each = job.extract
  parent { job = each.value }
  exec { command = ["clean", each.key, var.day] }
}

job "load" {
  predecessor { jobs = values(job.extract) }
  exec { command = ["load", var.day] }
}

job "report" {
  predecessor { job = job.load }
  exec { command = ["report"] }
}

job "mail" {
  exec { command = ["mail", var.day] }
}
