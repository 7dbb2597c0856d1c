# One job for each region, and one after all of them.
#
#     waybill apply
#     waybill apply -var 'regions=["eu", "us", "in"]'

workflow "fan-out" {}

variable "regions" {
  type    = list(string)
  default = ["eu", "us"]
}

job "count" {
  for_each = toset(var.regions)

  exec {
    command = ["echo", "counting ${each.key}"]
  }

  retry { max_attempts = 2 }
}

job "sum" {
  predecessor { jobs = values(job.count) }

  exec {
    command = ["echo", "${length(var.regions)} regions counted"]
  }
}
