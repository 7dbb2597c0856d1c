workflow "shop" {}

job "poll" {
  sync       = { cursor = "0" }
  max_cycles = 100

  run_at {
    every   = "15 minutes"
    catchup = "all"
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
