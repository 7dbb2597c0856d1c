job "load" "eu" { # ERROR: Unexpected label | A job block has one label
  type = "noop"
}
