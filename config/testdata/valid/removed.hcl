workflow "w" {}
job "a" { type = "noop" }
job "each" {
  for_each = toset(["x"])
  type     = "noop"
}
removed {
  from = job.gone
}
removed {
  from = job.each["y"]
  lifecycle { destroy = false }
}
removed {
  from = module.gone
  lifecycle { destroy = true }
}
