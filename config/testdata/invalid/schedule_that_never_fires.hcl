job "a" {
  type = "noop"
  run_at { cron = "0 0 30 2 *" } # ERROR: Schedule that never fires | "0 0 30 2 *" never fires: no month that it names has a day 30
}
job "b" {
  type = "noop"
  run_at {
    timezone = "Nowhere" # silent: the line comes first
    cron     = "0 0 31 4,6 *" # ERROR: Schedule that never fires | fire on the 1st of the next
  }
}
