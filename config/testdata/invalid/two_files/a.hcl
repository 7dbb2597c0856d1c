workflow "a" {}
job "x" { type = "noop" }
locals { v = 1 }
