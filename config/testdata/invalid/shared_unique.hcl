job "a" {
  type   = "noop"
  unique = "k"
}
job "b" { # WARNING: Unique key of several jobs | job.a and job.b (and 1 more) are of type "noop" and have the unique key "k"
  type   = "noop"
  unique = "k"
  predecessor { job = job.a }
}
job "c" {
  type   = "noop"
  unique = "k"
}
job "d" { # WARNING: Unique key of several jobs | job.d["x"] and job.d["y"] are of type "noop"
  for_each = toset(["x", "y"])
  type     = "noop"
  unique   = "d"
}
job "e" {
  type   = "other"
  unique = "k"
}
