job "a" {
  exec {
    command = ["true"]
  }
  sleep { duration = "1s" } # ERROR: More than one thing to run | Job "a" has exec and sleep
}
job "b" {
  type = "noop" # ERROR: More than one thing to run | has http and type
  http {
    url = "https://example.com"
  }
}
