workflow "orders" {}

job "extract" {
  unique = "extract"
  meta   = { team = "sales", stage = "test" }
  exec { command = ["extract"] }
}

job "clean" {
  parent { job = job.extract }
  exec { command = ["clean"] }
}

job "load" {
  retention = "24h"
  predecessor { job = job.extract }
  exec { command = ["load"] }
}

queue "orders" {
  retention = "48h"
}
