job "a" { type = "noop" }
job "b" {
  exec {
    command = ["true"]
    dir     = job.a.result.dir # ERROR: Result cannot stand here | must not decide which files a command finds
  }
}
