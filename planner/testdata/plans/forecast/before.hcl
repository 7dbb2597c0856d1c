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

job "alarm" {
  predecessor {
    job    = job.load
    run_if = "failure"
  }
  exec { command = ["alarm"] }
}

job "nightly" {
  run_at { every = "1 day" }
  exec { command = ["nightly"] }
}

job "later" {
  predecessor { job = job.report }
  run_at { after = "10m" }
  exec { command = ["later"] }
}
