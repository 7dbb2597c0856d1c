workflow "w" {}
job "a" {
  type = "noop"
  lifecycle {
    prevent_destroy = true
    ignore_changes  = all
  }
}
job "b" {
  for_each = toset(["x", "y"])
  type     = "shop.v1.Load"
  payload  = { day = "mon", "odd name" = 1 }
  lifecycle {
    prevent_destroy      = false
    ignore_changes       = [payload.day, payload["odd name"], priority, priority, retry]
    replace_triggered_by = [job.a, job.c[each.key], job.d]
  }
}
job "c" {
  for_each = toset(["x", "y"])
  exec { command = ["true"] }
  lifecycle {
    ignore_changes       = [exec.env["A"], exec.command, predecessor]
    replace_triggered_by = []
  }
}
job "d" {
  count = 2
  type  = "noop"
}
