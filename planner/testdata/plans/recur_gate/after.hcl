workflow "shop" {}

job "load" {
  exec { command = ["load.sh"] }
}

job "nightly" {
  predecessor { job = job.load }

  gate { waiting = ["loaded", "checked"] }

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
