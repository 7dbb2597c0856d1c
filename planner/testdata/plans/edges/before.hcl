workflow "orders" {}

job "a" {
  type = "noop"
}

job "b" {
  type = "noop"
}

job "c" {
  type = "noop"
  parent { job = job.a }
}

job "d" {
  type = "noop"
  predecessor { jobs = [job.a, job.b] }
}

job "e" {
  type = "noop"
  predecessor { job = job.a }
}
