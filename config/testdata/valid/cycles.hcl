# Everything that makes jobs run again and again, in every spelling.
locals {
  none = null
}

job "nightly" {
  sync       = { cursor = 0, mark = "a=b,c", none = null }
  max_cycles = 365

  run_at {
    cron     = "30 2 * * mon-fri"
    timezone = "Europe/Berlin"
    catchup  = "all"
    overlap  = "skip"
    enabled  = true
  }
  exec { command = ["true"] }
}

job "each_region" {
  for_each = { eu = "Europe/Berlin", us = null }
  type     = "noop"
  run_at {
    every    = each.value == null ? "day" : null
    cron     = each.value == null ? null : "@daily"
    timezone = each.value
    overlap  = "replace"
    catchup  = "none"
  }
  triggers_gate = ["loaded-${each.key}"]
}

job "off" {
  type = "noop"
  sync = {}
  run_at {
    every   = "24 hours"
    time    = local.none
    enabled = false
  }
}

job "below" {
  type          = "noop"
  triggers_gate = [] # the same as none
  predecessor {
    job    = job.nightly
    run_if = "always"
  }
  run_at { after = "1m" }
}

job "gate" {
  type = "noop"
  gate { waiting = ["loaded-us", "loaded-eu"] }
  sync = { seen = "" }
}

job "below_gate" {
  type = "noop"
  parent { job = job.gate }
  obsolete_if {
    labels = { maintenance = "on", of = workflow.name }
  }
}

job "to_all" {
  type = "noop"
  delivery {
    to        = "all"
    retention = "1h"
  }
}

job "to_one" {
  type = "noop"
  delivery { worker = "host-7" }
  predecessor { job = job.off }
}

job "to_any" {
  type = "noop"
  delivery {
    to     = "any"
    worker = null
  }
  max_cycles = 0
}
