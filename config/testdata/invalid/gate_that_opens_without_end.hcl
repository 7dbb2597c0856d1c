job "round" {
  type = "noop"
  gate { waiting = ["again"] }
}
job "turn" {
  type          = "noop"
  triggers_gate = ["turned", "counted"]
  parent { job = job.round }
}
job "other" {
  type = "noop"
  gate { waiting = ["turned"] } # ERROR: Gate that opens without end | downstream of job.other "again" opens job.round, downstream of which "turned" opens job.other. Give
}
job "back" {
  type          = "noop"
  triggers_gate = ["again"]
  predecessor { job = job.other }
}
job "bounded" {
  type       = "noop"
  max_cycles = 3
  gate { waiting = ["once more"] } # WARNING: Gate that may never open
}
job "more" {
  type          = "noop"
  triggers_gate = ["once more"]
  parent { job = job.bounded }
}
job "fed" {
  type = "noop"
  gate { waiting = ["mine", "theirs"] } # WARNING: Gate that may never open
}
job "feed" {
  type          = "noop"
  triggers_gate = ["mine"]
  parent { job = job.fed }
}
job "theirs" {
  type          = "noop"
  triggers_gate = ["theirs"]
}
