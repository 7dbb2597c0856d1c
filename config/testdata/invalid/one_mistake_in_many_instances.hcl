job "a" {
  count   = 2000
  type    = "noop"
  timeout = "${count.index}x" # ERROR: Invalid duration | "0x" is no duration
}
job "b" {
  count   = 2000
  type    = "noop"
  timeout = "x" # ERROR: Invalid duration
}
