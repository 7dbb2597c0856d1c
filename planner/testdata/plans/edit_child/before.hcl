workflow "orders" {}

variable "stamp" {
  default = 1
}

job "extract" {
  for_each = toset(["eu", "us"])
  exec { command = ["extract", each.key] }
}

job "clean" {
  for_each = job.extract
  parent { job = each.value }
  exec { command = ["clean", each.key] }
}

job "load" {
  predecessor { jobs = values(job.extract) }
  exec { command = ["load"] }
}

job "other" {
  exec { command = ["other"] }
}

output "load" {
  value = job.load.uuid
}
