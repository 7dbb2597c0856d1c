workflow "shop" {}

job "a2" {
  exec { command = ["a.sh", "again"] }
}

job "b2" {
  timeout = "2m"
  exec { command = ["b.sh"] }
}

job "c2" {
  exec { command = ["c.sh"] }
}

job "d" {
  timeout = "5m"
  predecessor { job = job.b2 }
  exec { command = ["d.sh"] }
}

job "e2" {
  for_each = toset(["x"])
  exec { command = ["e.sh", each.key] }
}

moved {
  from = job.a
  to   = job.a2
}
moved {
  from = job.b
  to   = job.b2
}
moved {
  from = job.c
  to   = job.c2
}
moved {
  from = job.e
  to   = job.e2
}
