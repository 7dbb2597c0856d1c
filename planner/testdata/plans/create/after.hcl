workflow "orders" {}

variable "api_key" {
  type      = string
  sensitive = true
  default   = "s3cret"
}

queue "etl" {
  concurrency = 8
}

job "extract" {
  for_each = toset(["eu", "us"])
  queue    = "etl"
  priority = "high"
  timeout  = "5m"

  exec {
    command = ["extract", each.key, "--since", "2026-11-20"]
    env     = { KEY = var.api_key, REGION = each.key }
  }

  retry {
    max_attempts = 5
    backoff      = "linear"
    min          = "2s"
  }
}

job "clean" {
  for_each = job.extract

  parent {
    job              = each.value
    on_child_failure = "ignore"
  }

  exec {
    command = ["clean", each.key]
  }
}

job "load" {
  type = "shop.v1.Load"
  payload = {
    day     = "2026-11-20"
    regions = ["eu", "us"]
    limits  = { rows = 1000, "a key" = null }
    strict  = true
  }

  predecessor {
    jobs = values(job.extract)
  }
}

job "alert" {
  predecessor {
    job    = job.load
    run_if = "failure"
  }

  http {
    method = "POST"
    url    = "https://example.com/alerts"
    body   = "load failed\nsee ${job.load.uuid}\n"
  }
}

job "report" {
  predecessor { job = job.load }
  run_at { time = "2026-11-21T06:00:00Z" }
  triggers = { format = "2" }
  sleep { duration = "10m" }
}

output "load_uuid" {
  value = job.load.uuid
}

output "regions" {
  value = ["eu", "us"]
}

output "key" {
  value     = var.api_key
  sensitive = true
}
