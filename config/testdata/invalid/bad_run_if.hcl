job "a" { type = "noop" }
job "b" {
  type = "noop"
  predecessor {
    job    = job.a
    run_if = "succes" # ERROR: Unknown choice | Did you mean "success"?
  }
  parent {
    uuid             = "x"
    on_child_failure = "skip" # ERROR: Unknown choice | "fail", "ignore"
  }
}
