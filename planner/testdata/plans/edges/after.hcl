workflow "orders" {}

job "a" {
  type = "noop"
}

job "b" {
  type = "noop"
}

job "c" {
  type = "noop"
  parent { job = job.b }
}

job "d" {
  type = "noop"
  predecessor { job = job.b }
  predecessor {
    job    = job.a
    run_if = "always"
  }
}

job "e" {
  type = "noop"
  predecessor { job = job.a }
  predecessor { job = job.new }
}

job "new" {
  type = "noop"
}
