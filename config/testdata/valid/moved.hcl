job "new" { type = "noop" }
job "each" {
  for_each = toset(["b", "c", "only"])
  type     = "noop"
}
job "counted" {
  count = 2
  type  = "noop"
}

moved {
  from = job.old
  to   = job.middle
}
moved {
  from = job.middle # and on from there
  to   = job.new
}
moved {
  from = job.each["a"]
  to   = job.each["b"]
}
moved {
  from = job.single
  to   = job.each["only"]
}
moved {
  from = job.list
  to   = job.counted
}
moved {
  from = job.list[7]
  to   = job.counted[1]
}
moved {
  from = job.counted
  to   = job.counted[0]
}
