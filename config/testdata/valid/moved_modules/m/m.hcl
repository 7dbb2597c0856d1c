job "new" {
  type = "noop"
}
job "each" {
  for_each = toset(["k"])
  type     = "noop"
}
job "found" {
  type = "noop"
}
moved {
  from = job.old
  to   = job.new
}
