job "a" { type = "noop" }
job "b" {
  http { url = job.a.result.url } # ERROR: Result cannot stand here | scheme, host and port of a url are written out
}
job "c" {
  http { url = "https://${job.a.result.host}/x" } # ERROR: Result cannot stand here | choose whom a request goes to
}
job "d" {
  http { url = "https://example.com:${job.a.result.port}/" } # ERROR: Result cannot stand here
}
job "e" {
  http { url = "https://example.com${job.a.result.path}" } # ERROR: Result cannot stand here
}
job "f" {
  http {
    url     = "https://example.com/"
    headers = { host = job.a.result.host } # ERROR: Result cannot stand here | Write the host out
  }
}
