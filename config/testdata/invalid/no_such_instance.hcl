job "a" {
  for_each = toset(["eu", "us"])
  type     = "noop"
}
job "b" {
  count = 2
  type  = "noop"
}
job "c" {
  count = 0
  type  = "noop"
}
job "d" {
  type = "noop"
  predecessor { job = job.a["ue"] } # ERROR: No such job instance | Did you mean "us"?
  predecessor { job = job.b[2] }    # ERROR: No such job instance | job.b[0] to job.b[1]
  predecessor { job = job.c[0] }    # ERROR: No such job instance | It has none at all
  predecessor { job = job.a[0] }    # ERROR: No such job instance | Its keys are strings, such as "eu"
}
job "e" {
  for_each = toset(["eu", "uk"])
  type     = "noop"
  parent { job = job.a[each.key] } # ERROR: No such job instance | no instance with the key "uk"
}
output "o" { value = job.a["xx"].uuid } # ERROR: No such job instance | no instance with the key "xx"
