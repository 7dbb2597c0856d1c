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
    after = "1m" # ERROR: Conflicting arguments | one of time, after, every and cron
  }
}
job "c" {
  type = "noop"
  run_at { # ERROR: Missing argument | needs one of time
  }
}
job "d" {
  type = "noop"
  run_at {
    cron     = "@daily" # ERROR: Conflicting arguments | this one has every too
    every    = "day"
    timezone = "Nowhere"
  }
}
job "e" {
  type = "noop"
  run_at { # ERROR: Missing argument | cron = "0 2 * * *"
    cron = null
  }
}
