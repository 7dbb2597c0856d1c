workflow "orders" {}

job "nightly" {
  run_at { every = "1 day" }
  exec { command = ["nightly"] }
}

job "after" {
  predecessor { job = job.nightly }
  exec { command = ["after"] }
}

job "gate" {
  gate { waiting = ["x"] }
  exec { command = ["gate"] }
}
