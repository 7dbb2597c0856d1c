workflow "reading" {}
variable "secret" {
  default   = "s"
  sensitive = true
}
job "extract" {
  count = 5
  type  = "t"
}
job "one" { type = "t" }
job "load" {
  type = "t"
  payload = {
    rows  = job.one.result.rows
    odd   = job.one.result["a b"][0]
    note  = "has ${job.one.result.rows} rows"
    every = job.extract[*].result.rows
    key   = var.secret
  }
}
job "child" {
  type    = "t"
  payload = { rows = job.one.result.rows }
  parent { job = job.one }
}
