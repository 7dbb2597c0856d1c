job "a" {
  type = "noop"
  gate { waiting = ["x"] } # ERROR: More than one thing that starts cycles | The job has a schedule, at
  run_at { every = "day" }
}
job "b" {
  type          = "noop"
  triggers_gate = ["x"] # ERROR: Conflicting arguments | waits for labels and does not trigger any itself
  gate { waiting = ["y"] }
}
job "c" {
  type = "noop"
  run_at { every = "day" }
  obsolete_if { # ERROR: Conflicting arguments | A job with a schedule is a template
    labels = { maintenance = "on" }
  }
}
job "d" {
  type = "noop"
  gate { waiting = ["y"] }
  obsolete_if { # ERROR: Conflicting arguments | A job with a gate is a template
    labels = { maintenance = "on" }
  }
}
