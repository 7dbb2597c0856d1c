job "a" {
  type = "noop"
  run_at {
    every   = "day"
    catchup = "latest" # ERROR: Unknown choice | Catchup is one of "last", "none", "all", and not "latest". Did you mean "last"?
    overlap = "repalce" # ERROR: Unknown choice | Did you mean "replace"?
    enabled = "maybe" # ERROR: Wrong type of value | Enabled needs true or false
  }
}
job "b" {
  type = "noop"
  run_at {
    after    = "10m"
    timezone = "UTC"  # ERROR: Conflicting arguments | Timezone belongs to a schedule, and after starts the job once
    catchup  = "last" # ERROR: Conflicting arguments | Catchup belongs to a schedule
    overlap  = "skip" # ERROR: Conflicting arguments | Overlap belongs to a schedule
    enabled  = false  # ERROR: Conflicting arguments | Enabled belongs to a schedule
  }
}
