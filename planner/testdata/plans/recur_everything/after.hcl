workflow "shop" {}

job "poll" {
  sync       = { cursor = "0" }
  max_cycles = 100

  run_at {
    every   = "15 minutes"
    catchup = "all"
    enabled = false
  }

  type          = "shop.Poll"
  triggers_gate = ["polled"]
}

job "late" {
  run_at {
    cron     = "30 0 * * *"
    timezone = "Asia/Tokyo"
  }
  type = "noop"
}

job "sum" {
  gate { waiting = ["polled"] }
  type = "noop"
}

job "mail" {
  predecessor { job = job.sum }
  obsolete_if { labels = { maintenance = "on" } }

  delivery {
    worker    = "mailer-1"
    retention = "2h"
  }

  type = "shop.Mail"
}

job "flush" {
  delivery { to = "all" }
  type = "shop.Flush"
}
