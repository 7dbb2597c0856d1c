# ERROR@4: Unclosed string | Is the closing quote missing?

job "a" {
  type = "noop
}

job "b" {
  timeout = "soon" # ERROR: Invalid duration
  type    = "noop"
}
