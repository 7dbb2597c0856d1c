job "a" { type = "noop" }
job "b" {
  queue    = job.a.result.queue # ERROR: Result cannot stand here | Queue is needed before that.
  unique   = "x-${job.a.result.key}" # ERROR: Result cannot stand here | Unique is needed
  meta     = { rows = job.a.result.rows } # ERROR: Result cannot stand here | Meta is needed
  triggers = { rows = job.a.result.rows } # ERROR: Result cannot stand here | Triggers is needed
  sync     = { rows = job.a.result.rows } # ERROR: Result cannot stand here | Sync is needed
  type     = "t"
  run_at { time = job.a.result.time } # ERROR: Result cannot stand here | Time is needed
}
job "c" {
  sleep { duration = "${job.a.result.n}s" } # ERROR: Result cannot stand here | Duration is needed
}
job "d" {
  predecessor { job = job.a.result } # ERROR: Result cannot stand here | Job is needed
  type = "noop"
  precondition {
    condition     = job.a.result.n > 0 # ERROR: Result cannot stand here | Condition is needed
    error_message = "No rows."
  }
}
job "e" {
  type           = "t"
  payload_base64 = job.a.result.bytes # ERROR: Result cannot stand here | Payload_base64 is needed
}
