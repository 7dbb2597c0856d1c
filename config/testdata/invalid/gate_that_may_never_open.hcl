job "load" {
  for_each      = toset(["eu", "us"])
  type          = "noop"
  triggers_gate = ["${each.key}-loaded"]
}
job "report" {
  type = "noop"
  gate {
    waiting = [
      "eu-loaded",
      "us-laoded",  # WARNING: Gate that may never open | Did you mean "us-loaded"?
      "approved",   # WARNING: Gate that may never open | No job of these files has "approved" in its triggers_gate. Unless
    ]
  }
}
job "turn" {
  type = "noop"
  gate { waiting = ["again", "eu-loaded"] } # WARNING: Gate that may never open | Only job.far_below triggers "again", and it starts after this gate
}
job "below" {
  type = "noop"
  parent { job = job.turn }
}
job "far_below" {
  type          = "noop"
  triggers_gate = ["again"]
  predecessor { job = job.below }
}
job "turned_from_outside" {
  for_each   = toset(["x"])
  type       = "noop"
  max_cycles = 5
  gate { waiting = ["first"] }
}
job "next" {
  type          = "noop"
  triggers_gate = ["first"]
  predecessor { job = job.turned_from_outside["x"] }
}
job "first" {
  type          = "noop"
  triggers_gate = ["first"]
}
job "each" {
  for_each = toset(["b", "c"])
  type     = "noop"
  gate { waiting = ["eu-loaded", "nobody"] } # WARNING: Gate that may never open | has "nobody"
}
