job "load" {
  type = "noop"
}

job "load" { # ERROR: Duplicate name | There is already a job named "load", at testdata/invalid/two_jobs_of_one_name.hcl:1
  type = "noop"
}
