job "a" {
  type = "noop"
  delivery { to = "al" } # ERROR: Unknown choice | Did you mean "all"?
}
job "b" {
  type = "noop"
  delivery { to = "uni" } # ERROR: Unknown choice | For one worker write worker = "ID"
}
job "c" {
  type = "noop"
  delivery {
    to     = "any"
    worker = "w1" # ERROR: Conflicting arguments | one of to and worker
  }
}
job "d" {
  type = "noop"
  delivery { worker = "a b" } # ERROR: Invalid name | "a b" cannot be the name of a worker
}
job "e" {
  type = "noop"
  delivery { worker = "" } # ERROR: Invalid name
}
job "f" {
  type      = "noop"
  retention = "1h"
  delivery {
    to        = "all"
    retention = "2h" # ERROR: Conflicting arguments | The job has a retention of its own
  }
}
job "g" {
  type = "noop"
  delivery {
    to        = "all"
    retention = "2d" # ERROR: Invalid duration | such as "48h"
  }
}
job "h" {
  type          = "noop"
  triggers_gate = ["x"] # ERROR: Conflicting arguments | no success that could trigger a gate
  delivery { to = "all" }
  parent { job = job.a } # ERROR: Conflicting arguments | Remove this parent block
  predecessor { job = job.b } # ERROR: Conflicting arguments | Remove this predecessor block
  run_at { after = "1m" } # ERROR: Conflicting arguments | Remove this run_at block
}
job "i" {
  type = "noop"
  delivery { to = "all" }
  gate { waiting = ["x"] } # ERROR: Conflicting arguments | Remove this gate block
}
