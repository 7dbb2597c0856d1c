job "a" { type = "noop" }
job "b" {
  type = "noop"
  predecessor { uuid = "a b" }      # ERROR: Invalid name | cannot be the name of a uuid
  predecessor { uuid = job.a.uuid } # ERROR: Invalid upstream job | Uuid is for jobs that are not in these files
}
