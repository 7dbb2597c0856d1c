workflow "orders" {}

job "extract" {
  unique       = "extract-all"
  meta         = { team = "sales", stage = "prod", "@{x" = "y" }
  remove_after = "1h"
  exec { command = ["extract"] }
}

job "clean" {
  unique = "clean"
  parent { job = job.extract }
  exec { command = ["clean"] }
}

job "load" {
  predecessor { job = job.extract }
  exec { command = ["load"] }
}

job "new" {
  unique    = "new"
  retention = "10m"
  meta      = { n = 1 }
  type      = "noop"
}

queue "orders" {
  fair            = true
  retention       = "72h"
  retention_count = 1000
}
