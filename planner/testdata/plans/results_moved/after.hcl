workflow "reading" {}
job "first" { type = "t" }
job "load" {
  type    = "t"
  payload = { rows = job.first.result.rows }
}
job "child" {
  type = "t"
  parent { job = job.first }
}
job "grandchild" {
  type    = "t"
  payload = { n = job.first.result.n, uuid = job.first.uuid }
  parent { job = job.child }
}
moved {
  from = job.one
  to   = job.first
}
