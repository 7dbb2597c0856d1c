job "a" {
  type = "noop"
  run_at {
    time = "2026-11-21 06:00" # ERROR: Invalid time | RFC 3339
  }
}
job "b" {
  type = "noop"
  run_at {
    time  = "2026-11-21T06:00:00Z"
    after = "1m" # ERROR: Conflicting arguments | one of time and after
  }
}
job "c" {
  type = "noop"
  run_at { # ERROR: Missing argument | needs one of time
  }
}
