job "extract" { type = "noop" }

job "load" {
  type = "noop"
  predecessor { job = job.extrct } # ERROR: Reference to undeclared job | Did you mean "extract"?
}
job "other" {
  type = "noop"
  parent { job = job.something } # ERROR: Reference to undeclared job | Declare it: job "something"
}
