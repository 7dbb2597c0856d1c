job "a" { type = "noop" }
output "o" { value = jsonencod(job.a.uuid) } # ERROR: Call to unknown function | Did you mean "jsonencode"?
