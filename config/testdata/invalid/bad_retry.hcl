job "a" {
  type = "noop"
  retry {
    max_attempts = -1            # ERROR: Value out of range | from 0 to 1000000
    max_lost     = 0             # ERROR: Value out of range
    backoff      = "exponental"  # ERROR: Unknown choice | Did you mean "exponential"?
    jitter       = 20            # ERROR: Value out of range | from 0 to 1
    on_exhausted = "stop"        # ERROR: Unknown choice | "fail", "hold"
  }
}
job "b" {
  type = "noop"
  retry {
    min = "1h"
    max = "1m" # ERROR: Value out of range | min cannot be the larger
  }
}
job "c" {
  type = "noop"
  retry {
    min = "2h" # ERROR: Value out of range | Change min or max
  }
}
