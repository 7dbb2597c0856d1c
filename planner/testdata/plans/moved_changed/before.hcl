workflow "shop" {}

job "a" {
  exec { command = ["a.sh"] }
}

job "b" {
  timeout = "1m"
  exec { command = ["b.sh"] }
}

job "c" {
  exec { command = ["c.sh"] }
}

job "d" {
  predecessor { job = job.b }
  exec { command = ["d.sh"] }
}

job "e" {
  for_each = toset(["x", "y"])
  exec { command = ["e.sh", each.key] }
}
