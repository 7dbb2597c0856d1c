job "a" {
  type = "noop"
}
check "nothing" { # ERROR: Missing block | The check "nothing" checks nothing. Give it an assert block
}
