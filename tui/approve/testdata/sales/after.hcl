workflow "sales" {}

variable "token" {
  type      = string
  sensitive = true
  default   = "s3cr3t-of-sales"
}

queue "etl" {
  concurrency = 8
}

queue "slow" {
  concurrency = 1
}

job "extract" {
  for_each = toset(["de", "eu", "us"])
  queue    = "etl"
  exec { command = each.key == "eu" ? ["extract.sh", each.key, "--day", "2026-11-21", "--retry-transient-failures-of-the-source", "--chunk-size", "50000"] : ["extract.sh", each.key, "--day", "2026-11-20"] }
}

job "clean" {
  for_each = job.extract
  queue    = "etl"
  parent { job = each.value }
  exec { command = ["clean.sh", each.key] }
}

job "load" {
  queue = "etl"
  predecessor { jobs = values(job.extract) }
  exec { command = ["load.sh", "--table", "sales"] }
}

job "report" {
  predecessor { job = job.load }
  exec {
    command = ["report.sh"]
    env     = { TOKEN = var.token }
  }
}

job "archive" {
  timeout = "10m"
  exec { command = ["archive.sh"] }
}

job "notify" {
  for_each = toset(["amsterdam", "berlin", "düsseldorf", "krakow", "madrid", "oslo", "paris", "rome", "東京", "vienna"])
  queue    = "slow"
  predecessor { job = job.report }
  exec { command = ["notify.sh", each.key] }
}

output "day" {
  value = "2026-11-21"
}

output "token" {
  value     = var.token
  sensitive = true
}
