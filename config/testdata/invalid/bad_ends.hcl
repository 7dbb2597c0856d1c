job "a" {
  type         = "noop"
  remove_after = "3d"   # ERROR: Invalid duration | such as "72h"
  retention    = "0s"   # ERROR: Invalid duration | Retention is at least 1ms
}
job "b" {
  type         = "noop"
  remove_after = "-1h"  # ERROR: Invalid duration | Remove_after is at least 1ms
  retention    = 3600   # ERROR: Invalid duration | such as "3600s"
}
job "c" {
  type         = "noop"
  remove_afer  = "1h"   # ERROR: Unsupported argument | Did you mean "remove_after"?
  retension    = "1h"   # ERROR: Unsupported argument | Did you mean "retention"?
}
