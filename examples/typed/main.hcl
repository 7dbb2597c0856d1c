workflow "typed" {
  proto {
    files        = ["protos/shop/v1/load.proto"]
    import_paths = ["protos"]
  }
}

variable "day" {
  type    = string
  default = "2026-11-20"
}

job "extract" {
  exec { command = ["echo", "sales of ${var.day}"] }
}

# A worker of your own runs it: see README.md.
job "load" {
  type  = "shop.v1.Load"
  queue = "loads"
  payload = {
    day     = var.day
    regions = ["eu", "us"]
    mode    = "MODE_DELTA"
    window  = "1h30m"
    table   = "sales"
  }

  predecessor { job = job.extract }
}
