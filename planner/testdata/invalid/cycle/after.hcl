job "a" {
  type = "noop"
  predecessor {
    job    = job.c
  }
}
job "b" {
  type = "noop"
  predecessor {
    job    = job.a
  }
}
job "c" {
  type = "noop"
  predecessor {
    job    = job.b
  }
}
