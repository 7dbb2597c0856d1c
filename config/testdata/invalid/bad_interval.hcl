job "zero" {
  type = "noop"
  run_at { every = "0 minutes" } # ERROR: Invalid interval | "0 minutes" is no interval: the shortest interval is one minute; write every = "minute"
}
job "unit" {
  type = "noop"
  run_at { every = "6 fortnights" } # ERROR: Invalid interval | "6 fortnights" is no interval: write "minute"
}
job "misspelt" {
  type = "noop"
  run_at { every = "15 minuts" } # ERROR: Invalid interval | Did you mean "minutes"?
}
job "duration" {
  type = "noop"
  run_at { every = "6h" } # ERROR: Invalid interval | "6h" is no interval: write every = "6 hours"
}
job "moment" {
  type = "noop"
  run_at { every = "4 hours at **:30" } # ERROR: Invalid interval | cron = "30 */4 * * *"
}
job "weekday" {
  type = "noop"
  run_at { every = "2 weeks on Wednesday at 06:00" } # ERROR: Invalid interval | cron = "0 6 * * 3"
}
job "line" {
  type = "noop"
  run_at { every = "0 2 * * *" } # ERROR: Invalid interval | write cron = "0 2 * * *"
}
job "empty" {
  type = "noop"
  run_at { every = "" } # ERROR: Invalid interval
}
job "number" {
  type = "noop"
  run_at { every = 15 } # ERROR: Invalid interval | no unit
}
job "list" {
  type = "noop"
  run_at { every = ["day"] } # ERROR: Wrong type of value | Every needs a string
}
