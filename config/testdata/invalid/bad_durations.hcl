job "a" {
  type        = "noop"
  timeout     = 30    # ERROR: Invalid duration | such as "30s"
  reserve_for = "2d"  # ERROR: Invalid duration | such as "48h"
}
job "b" {
  type        = "noop"
  timeout     = "-1s"    # ERROR: Invalid duration | Timeout is at least 1ms
  reserve_for = "1500us" # ERROR: Invalid duration | whole milliseconds
}
job "c" {
  type        = "noop"
  timeout     = "2000000h" # ERROR: Invalid duration | at most 100 years
  reserve_for = "soon"     # ERROR: Invalid duration | such as "90s", "5m" or "1h30m"
}
