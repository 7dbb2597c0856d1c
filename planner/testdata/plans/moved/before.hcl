workflow "shop" {}

job "extract" {
  exec { command = ["extract.sh"] }
}

job "clean" {
  parent { job = job.extract }
  exec { command = ["clean.sh"] }
}

job "load" {
  predecessor { jobs = [job.clean, job.extract] }
  exec { command = ["load.sh"] }
}

job "report" {
  for_each = toset(["daily", "weekly"])
  predecessor { job = job.load }
  exec { command = ["report.sh", each.key] }
}
