job "a" { type = "noop" }
job "b" {
  exec {
    command = ["true"]
    env     = { PATH = "${job.a.result.dir}:/bin" } # ERROR: Result cannot stand here | Programs take code from PATH
  }
}
job "c" {
  exec {
    command = ["true"]
    env     = { LD_PRELOAD = job.a.result.lib } # ERROR: Result cannot stand here | LD_PRELOAD
  }
}
