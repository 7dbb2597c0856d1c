job "load data" { # ERROR: Invalid name | "load data" cannot be the name of a job
  type = "noop"
}
job "1st" { # ERROR: Invalid name | begin with a letter
  type = "noop"
}
