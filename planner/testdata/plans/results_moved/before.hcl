workflow "reading" {}
job "one" { type = "t" }
job "load" {
  type    = "t"
  payload = { rows = job.one.result.rows }
}
job "child" {
  type = "t"
  parent { job = job.one }
}
job "grandchild" {
  type    = "t"
  payload = { n = job.one.result.n, uuid = job.one.uuid }
  parent { job = job.child }
}
