job "a" {
  for_each = toset([""]) # ERROR: Invalid key | is empty
  type     = "noop"
}
job "b" {
  for_each = { "a\nb" = 1 } # ERROR: Invalid key | control characters
  type     = "noop"
}
job "c" {
  for_each = toset([join("", [for i in range(600) : "x"])]) # ERROR: Invalid key | has 600 bytes
  type     = "noop"
}
job "d" {
  for_each = toset([job.e.uuid]) # ERROR: Invalid key | known only after apply
  type     = "noop"
}
job "e" { type = "noop" }
job "f" {
  for_each = toset([null]) # ERROR: Invalid key | is null
  type     = "noop"
}
