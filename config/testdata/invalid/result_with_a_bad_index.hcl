job "a" { type = "noop" }
job "b" {
  type    = "t"
  payload = { a = job.a.result.rows[-1] } # ERROR: Result cannot stand here | a whole number from 0, and this is -1
}
job "c" {
  type    = "t"
  payload = { a = job.a.result.rows[true ? null : 1] } # ERROR: Result cannot stand here | and this is null
}
job "d" {
  type    = "t"
  payload = { a = job.a.result.rows[0.5] } # ERROR: Result cannot stand here | and this is 0.5
}
