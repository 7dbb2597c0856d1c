workflow "gitops" {}

variable "regions" {
  type    = list(string)
  default = ["eu", "us"]
}

job "extract" {
  for_each = toset(var.regions)
  exec { command = ["echo", "extracting", each.key] }
}

job "report" {
  predecessor { jobs = values(job.extract) }
  exec { command = ["echo", "reporting"] }
}
