workflow "reading" {}
job "one" { type = "t" }
job "two" { type = "t" }
job "load" {
  type    = "t"
  payload = { rows = job.one.result.rows, was = 5, list = [job.one.result.a] }
}
job "waits" {
  type    = "t"
  payload = { n = job.one.result.n }
}
