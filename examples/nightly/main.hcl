# A graph that runs each night, and a report that waits for two such graphs: schedules, cycles, state and a gate.

workflow "nightly" {}

variable "broken" {
  description = "A region whose conversion fails, to see what follows from that: at, ch or uk."
  type        = string
  default     = ""
}

locals {
  regions = toset(["at", "ch", "uk"])
}

# The root of the graph: at two in the morning, summer and winter, it runs once, and so does everything downstream of it. That
# is one cycle. Its time is in WAYBILL_SCHEDULED_FOR, the same for all jobs of the cycle, so they name their files by it.
job "nightly" {
  run_at {
    cron     = "0 2 * * *"
    timezone = "Europe/Berlin"
    catchup  = "last" # nobody was there at two: do it later, but once, however many nights it was
    overlap  = "skip" # the last cycle still runs at two: leave this one out
  }

  # How far it is. The script reads it from the file WAYBILL_SYNC and writes the next value there; that is kept if it ends
  # well, and what the next night begins with. "0" is only the very first value.
  sync = { cursor = "0" }

  exec { command = ["./extract.sh", "5"] }
}

# Three jobs per cycle, side by side.
job "convert" {
  for_each = local.regions
  predecessor { job = job.nightly }
  exec { command = ["./convert.sh", each.key, var.broken] }
  retry { max_attempts = 1 }
}

# Fan-in: it waits for the three of its own cycle.
job "load" {
  predecessor { jobs = values(job.convert) } # run_if = "success" is the default

  sync          = { orders = "0" }
  triggers_gate = ["orders-loaded"] # see report
  exec { command = concat(["./load.sh"], sort(local.regions)) }
}

# Instead of load, in a cycle in which a conversion failed.
job "alarm" {
  predecessor {
    jobs   = values(job.convert)
    run_if = "failure"
  }

  exec {
    shell   = true
    command = "echo \"the orders of $WAYBILL_SCHEDULED_FOR are not loaded\" | tee -a out/alarms.txt"
  }
}

# Another schedule, with cycles of its own.
job "rates" {
  run_at { every = "6 hours" }

  triggers_gate = ["rates-loaded"]
  exec { command = ["./rates.sh"] }
}

# A gate: it runs when both labels have been triggered by a success since it last ran, in whichever order. A job that triggers
# it hands over the sync values that both of them have: here, how many orders are loaded.
job "report" {
  gate { waiting = ["orders-loaded", "rates-loaded"] }

  sync = { orders = "0" }
  exec { command = ["./report.sh"] }
}
