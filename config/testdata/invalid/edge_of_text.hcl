job "a" { type = "noop" }
job "b" {
  type = "noop"
  predecessor { job = "job.a" }      # ERROR: Invalid upstream job | this is a string. Write it without quotes: job.a.
  predecessor { job = job.a.uuid }   # ERROR: Invalid upstream job | and this is a string
  predecessor { jobs = ["job.a"] }   # ERROR: Invalid upstream job | and this holds a string
  predecessor { jobs = job.a }       # ERROR: Invalid upstream job | jobs = [job.a]
  predecessor { jobs = values(job.a) } # ERROR: Invalid upstream job | has no for_each
  predecessor { job = null }         # ERROR: Invalid upstream job | and this is null
}
