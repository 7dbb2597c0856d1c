workflow "reading" {}
job "one" { type = "t" }
job "two" { type = "t" }
job "load" {
  type    = "t"
  payload = { rows = job.one.result.count, was = job.two.result.was, list = [job.one.result.b] }
}
job "waits" {
  type    = "t"
  payload = { n = job.one.result.n }
  predecessor { job = job.one }
}
