workflow "w" {
  moved_from = "v" # ERROR: Not supported by this version | The argument "moved_from" of a workflow block
  proto { # ERROR: Not supported by this version
    files = []
  }
}
job "a" {
  type          = "noop"
  sync          = {} # ERROR: Not supported by this version
  max_cycles    = 1  # ERROR: Not supported by this version
  triggers_gate = [] # ERROR: Not supported by this version
  lifecycle {
    prevent_destroy      = true # ERROR: Not supported by this version
    ignore_changes       = []   # ERROR: Not supported by this version
    replace_triggered_by = []   # ERROR: Not supported by this version
  }
}
job "b" {
  type = "noop"
  run_at {
    cron     = "0 2 * * *" # ERROR: Not supported by this version | The argument "cron" of a run_at block
    timezone = "UTC"       # ERROR: Not supported by this version
    catchup  = "last"      # ERROR: Not supported by this version
    overlap  = "skip"      # ERROR: Not supported by this version
    enabled  = true        # ERROR: Not supported by this version
  }
}
job "c" {
  type = "noop"
  run_at {
    every = "6 hours" # ERROR: Not supported by this version
  }
}
