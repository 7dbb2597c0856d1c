locals {
  broken = nope() # ERROR: Call to unknown function
}
job "a" {
  type          = "noop"
  meta          = { x = local.broken }
  sync          = { x = local.broken }
  triggers      = { x = local.broken }
  triggers_gate = [local.broken]
  obsolete_if { labels = { x = local.broken } }
  delivery { worker = local.broken }
}
job "b" {
  type = "noop"
  gate { waiting = [local.broken] }
}
job "c" {
  type = "noop"
  run_at {
    cron     = local.broken
    timezone = local.broken
  }
}
job "d" {
  type    = "shop.Load"
  payload = { x = local.broken }
}
job "e" {
  exec {
    command = ["x", local.broken]
    env     = { X = local.broken }
    inputs  = [local.broken]
  }
}
job "f" {
  http {
    url     = local.broken
    headers = { x = local.broken }
    expect  = [local.broken]
    body    = local.broken
  }
}
