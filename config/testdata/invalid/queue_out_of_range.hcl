queue "q" {
  concurrency     = 0       # ERROR: Value out of range | from 1 to 1000000
  weight          = 1.5     # ERROR: Value out of range | not 1.5
  fair            = "often" # ERROR: Wrong type of value | Fair needs true or false
  retention       = "7d"    # ERROR: Invalid duration | such as "168h"
  retention_count = 0       # ERROR: Value out of range | from 1 to 100000000
}
queue "r" {
  retention = 1000 # ERROR: Invalid duration | such as "1000s"
  keep      = 1000 # ERROR: Unsupported argument
  fare      = true # ERROR: Unsupported argument | Did you mean "fair"?
}
job "a" {
  type  = "noop"
  queue = "q"
}
