workflow "shop" {}

job "load" {
  exec { command = ["load.sh"] }
}

job "nightly" {
  predecessor { job = job.load }

  run_at {
    cron     = "0 2 * * *"
    timezone = "Europe/Berlin"
    overlap  = "skip"
  }

  exec { command = ["nightly.sh"] }
}

job "clean" {
  parent { job = job.nightly }
  exec { command = ["clean.sh"] }
}

job "report" {
  predecessor { job = job.nightly }
  exec { command = ["report.sh"] }
}
