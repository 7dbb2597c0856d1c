job "a" { type = "noop" }
job "each" {
  for_each = toset(["x"])
  type     = "noop"
}
removed {
  from = job.a # ERROR: Invalid removal | job.a is still declared, at
}
removed {
  from = job.each["x"] # ERROR: Invalid removal | job.each["x"] is still declared
}
removed {
  from = job.gone
  lifecycle { destroy = 1 } # ERROR: Invalid removal | Destroy is true or false, written out
}
removed {
  from = "job.gone" # ERROR: Invalid move | Write it without quotes: job.gone
}
removed { # ERROR: Missing argument | needs the argument "from"
}
