job "a" {
  type = "noop"
  cron = "0 2 * * *" # ERROR: Unsupported argument | When a job recurs is said in a block of its own: write run_at { cron = ... }.
}
