job "a" { type = "noop" }
job "b" {
  exec {
    shell   = true
    command = "echo ${job.a.result.rows}" # ERROR: Result cannot stand here | Give the result to the shell in env
  }
}
