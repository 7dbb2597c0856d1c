job "a" { # ERROR: Unclosed configuration block
  exec {
    command = ["true"]
}

job "b" {
  type  = "noop"
  queue = 1 + # ERROR: Invalid expression
}

job "c" {
  type = job.b.uuidd # ERROR: Invalid reference | "uuidd" is no attribute of a job
}
