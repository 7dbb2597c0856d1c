#! version 0.4.2
#! env WAYBILL_VAR_day=2026-11-20
workflow "orders" {
  required_version = ">= 0.1, < 2.0"
  namespace        = "shop-${var.stage}"

  redis { url = local.redis }
}

variable "stage" {
  type    = string
  default = "test"
}

variable "day" {
  description = "The day to work on."
  type        = string
  nullable    = false
  validation {
    condition     = can(formatdate("YYYY", "${var.day}T00:00:00Z"))
    error_message = "A day is written as 2026-11-20."
  }
}

variable "regions" {
  type    = map(object({ rate = optional(number, 1), zone = string }))
  default = { eu = { zone = "Europe/Berlin" }, us = { zone = "America/New_York", rate = 1.1 } }
}

variable "api_key" {
  type      = string
  default   = "s3cret"
  sensitive = true
  validation {
    condition     = length(var.api_key) > 3
    error_message = "The key is too short."
  }
}

locals {
  redis = "redis://:${var.api_key}@127.0.0.1:6379"
  names = sort(keys(var.regions))
}

queue "etl" {
  concurrency     = 8
  weight          = 3
  paused          = var.stage == "prod"
  fair            = true
  retention       = "48h"
  retention_count = 500
}

job "extract" {
  for_each    = var.regions
  queue       = "etl"
  priority    = "high"
  timeout     = "5m"
  reserve_for = "1m30s"
  unique      = "extract-${each.key}"

  meta = {
    region = each.key
    rate   = each.value.rate
    "a=b"  = true
    none   = null
  }

  exec {
    command = ["./extract.sh", each.key, var.day, each.value.rate]
    env     = { KEY = var.api_key, ZONE = each.value.zone, DEBUG = null }
    stdin   = "${each.key}\n"
    dir     = "."
    inputs  = fileset(path.module, "data/{eu,us}*.csv")
  }

  retry {
    max_attempts = 0
    max_lost     = 2
    backoff      = "linear"
    min          = "2s"
    max          = "10m"
    jitter       = 0
    on_exhausted = "hold"
  }
}

job "clean" {
  for_each = job.extract
  parent {
    job              = each.value
    on_child_failure = "ignore"
  }
  exec {
    shell   = true
    command = "./clean.sh ${each.key} | tee ${each.value.uuid}"
  }
  lifecycle { on_change = "cancel" }
}

job "load" {
  type     = "shop.v1.Load"
  payload  = { day = var.day, "regions" = local.names, key = var.api_key, extracts = [for k, j in job.extract : j.uuid], n = 1.50, big = 12345678901234567890, empty = {}, none = null, html = "<&>" }
  priority = 2
  triggers = { version = 2, files = [for f in ["data/eu.csv"] : filesha256(f)] }

  predecessor {
    jobs   = values(job.extract)
    run_if = "always"
  }
  predecessor { jobs = [job.clean["eu"], job.clean["us"]] }
  predecessor { uuid = "0b4c0d3e-6b1f-5a3b-9a53-5d4a4f3a9a11" }
}

job "raw" {
  type           = "shop.v1.Raw"
  queue          = "etl"
  payload_base64 = base64encode("bytes")
  remove_after   = "1h"
  retention      = "24h"
  meta           = merge({ stage = var.stage }, { of = job.load.address })
  parent { uuid = "outside" }
}

job "report" {
  predecessor { job = job.load }
  run_at { time = "2026-11-21T07:00:00+01:00" }
  lifecycle { on_change = "ignore" }

  http {
    method  = "POST"
    url     = "https://example.com/reports/${job.load.uuid}"
    headers = { Authorization = "Bearer ${var.api_key}", Accept = "text/plain" }
    body    = jsonencode({ day = var.day, of = job.load.address })
    expect  = [200, 202]
  }
}

job "wait" {
  predecessor {
    job    = job.report
    run_if = "failure"
  }
  run_at { after = "10m" }
  sleep { duration = "90s" }
}

job "step" {
  count = 3
  type  = "noop"
  parent { job = job.load }
}

job "last" {
  type = "noop"
  predecessor { jobs = job.step }
  predecessor { jobs = [for j in job.step : j if j.address != "job.step[0]"] }
  predecessor { jobs = slice(job.step, 0, 2) }
}

output "load" {
  description = "What to watch."
  value       = { uuid = job.load.uuid, address = job.load.address, name = workflow.name }
}

output "key" {
  sensitive = true
  value     = var.api_key
}
