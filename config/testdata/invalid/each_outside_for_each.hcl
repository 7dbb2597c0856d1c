job "a" {
  type  = "noop"
  queue = each.key # ERROR: Invalid reference | only known inside a job with for_each
}
job "b" {
  count = 2
  type  = "noop"
  queue = each.value # ERROR: Invalid reference | only known inside a job with for_each
}
output "o" { value = count.index } # ERROR: Invalid reference | only known inside a job with count
locals { a = each.key } # ERROR: Invalid reference | and not in a local
