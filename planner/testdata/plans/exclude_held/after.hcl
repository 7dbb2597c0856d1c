workflow "orders" {}

job "load" {
  exec { command = ["load", "all"] }
}

job "report" {
  predecessor { job = job.load }
  exec { command = ["report", "all"] }
}
