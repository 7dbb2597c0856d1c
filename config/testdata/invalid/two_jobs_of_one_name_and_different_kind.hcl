job "load" {
  count = 2
  type  = "noop"
}

job "load" { # ERROR: Duplicate name | two_jobs_of_one_name_and_different_kind.hcl:1
  type = "noop"
}
