job "a" { type = "noop" }
output "a" { value = sha256(job.a.uuid) } # ERROR: Invalid function argument | known only after apply
output "b" { value = length(job.a.uuid) } # ERROR: Invalid function argument | known only after apply
output "c" { value = upper("x-${job.a.uuid}") } # ERROR: Invalid function argument | known only after apply
