workflow "sales" {}

queue "etl" {
  concurrency = 4
}

queue "mail" {
  weight = 2
}

job "extract" {
  for_each = toset(["de", "eu", "us"])
  queue    = "etl"
  exec { command = ["extract.sh", each.key, "--day", "2026-11-20"] }
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
  exec { command = ["report.sh"] }
}

job "archive" {
  timeout = "5m"
  exec { command = ["archive.sh"] }
}

job "legacy" {
  exec { command = ["legacy.sh"] }
}

job "vanished" {
  exec { command = ["vanished.sh"] }
}

output "day" {
  value = "2026-11-20"
}
