workflow "shop" {}

job "poll" {
  sync       = { cursor = "7" }
  max_cycles = 200

  run_at {
    every   = "15 minutes"
    enabled = false
  }

  type = "shop.Poll"
}

job "late" {
  run_at {
    cron     = "30 0 * * *"
    timezone = "Asia/Tokyo"
  }
  type = "noop"
}
