job "misspelt" {
  type = "noop"
  run_at {
    cron     = "@daily"
    timezone = "Europe/Berln" # ERROR: Unknown time zone | Did you mean "Europe/Berlin"?
  }
}
job "city" {
  type = "noop"
  run_at {
    cron     = "@daily"
    timezone = "new york" # ERROR: Unknown time zone | Did you mean "America/New_York"?
  }
}
job "offset" {
  type = "noop"
  run_at {
    cron     = "@daily"
    timezone = "+02:00" # ERROR: Unknown time zone | write an IANA name such as "Europe/Berlin"
  }
}
job "local" {
  type = "noop"
  run_at {
    cron     = "@daily"
    timezone = "Local" # ERROR: Unknown time zone | another on the next one
  }
}
job "empty" {
  type = "noop"
  run_at {
    cron     = "@daily"
    timezone = "" # ERROR: Unknown time zone | write an IANA name
  }
}
job "with_every" {
  type = "noop"
  run_at {
    every    = "day"
    timezone = "Europe/Berlin" # ERROR: Conflicting arguments | cron = "0 0 * * *"
  }
}
job "alone" {
  type = "noop"
  run_at { # ERROR: Missing argument | needs one of time
    timezone = "Europe/Berlin"
  }
}
