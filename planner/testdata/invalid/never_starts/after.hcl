job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
  predecessor {
    job    = job.a
  }
}
job "c" {
  type = "noop"
  parent {
    job = job.a
  }
  parent {
    job = job.b
  }
}
