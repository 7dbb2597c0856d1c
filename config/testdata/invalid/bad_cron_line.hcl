job "hour" {
  type = "noop"
  run_at { cron = "0 24 * * *" } # ERROR: Invalid cron line | "0 24 * * *" is no cron line: the hour field is "24": 24 is out of bounds; write 0 to 23
}
job "weekday" {
  type = "noop"
  run_at { cron = "0 2 * * monday" } # ERROR: Invalid cron line | the day of week field is "monday"
}
job "month" {
  type = "noop"
  run_at { cron = "0 2 1 sept *" } # ERROR: Invalid cron line | Did you mean "sep"?
}
job "fields" {
  type = "noop"
  run_at { cron = "0 2 * *" } # ERROR: Invalid cron line | this one has 4
}
job "seconds" {
  type = "noop"
  run_at { cron = "0 0 2 * * *" } # ERROR: Invalid cron line | seconds and years are not supported
}
job "name" {
  type = "noop"
  run_at { cron = "@dayly" } # ERROR: Invalid cron line | Did you mean "@daily"?
}
job "interval" {
  type = "noop"
  run_at { cron = "@every 6 hours" } # ERROR: Invalid cron line | write every = "6 hours"
}
job "zone_within" {
  type = "noop"
  run_at { cron = "TZ=Europe/Berlin 0 2 * * *" } # ERROR: Invalid cron line | write timezone instead
}
job "empty" {
  type = "noop"
  run_at { cron = "" } # ERROR: Invalid cron line | this one has 0
}
job "made" {
  for_each = { early = "2", late = "25" }
  type     = "noop"
  run_at { cron = "0 ${each.value} * * *" } # ERROR: Invalid cron line | 25 is out of bounds
}
