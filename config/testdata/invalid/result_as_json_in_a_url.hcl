job "a" { type = "noop" }
job "b" {
  http { url = "https://example.com/?q=${jsonencode({ x = job.a.result.x })}" } # ERROR: Result cannot stand here | Put what jsonencode makes into the body
}
