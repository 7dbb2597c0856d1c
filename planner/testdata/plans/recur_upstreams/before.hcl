workflow "shop" {}

job "load" {
  for_each = toset(["eu", "us"])
  type     = "noop"
  triggers = { of = 1 }
}

job "hourly" {
  predecessor { jobs = values(job.load) }
  run_at { every = "hour" }
  type = "noop"
}

job "clean" {
  for_each = toset(["eu", "us"])
  predecessor { job = job.hourly }
  type = "noop"
}

job "join" {
  predecessor { jobs = values(job.clean) }
  predecessor {
    job    = job.load["eu"]
    run_if = "always"
  }
  type = "noop"
}
