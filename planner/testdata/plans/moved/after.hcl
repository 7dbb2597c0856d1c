workflow "shop" {}

job "zz_extract" { # sorts behind the others: the order of edges goes by address
  exec { command = ["extract.sh"] }
}

job "clean" {
  parent { job = job.zz_extract }
  exec { command = ["clean.sh"] }
}

job "load" {
  predecessor { jobs = [job.clean, job.zz_extract] }
  exec { command = ["load.sh"] }
}

job "report" {
  for_each = toset(["weekly", "monthly"])
  predecessor { job = job.load }
  exec { command = ["report.sh", each.key == "monthly" ? "daily" : each.key] }
}

moved {
  from = job.extract
  to   = job.zz_extract
}

moved {
  from = job.report["daily"]
  to   = job.report["monthly"]
}
