job "announce" {
  type = "noop"
  delivery { to = "all" }
}
job "each" {
  for_each = toset(["a", "b"])
  type     = "noop"
  delivery { to = "all" }
}
job "child" {
  count = 2
  type  = "noop"
  parent { job = job.announce } # ERROR: Invalid upstream job | job.child[0] waits for job.announce, which is delivered to all workers
}
job "heir" {
  type = "noop"
  predecessor { jobs = values(job.each) } # ERROR: Invalid upstream job | deliver job.each["a"] to any worker
}
job "to_one" {
  type = "noop"
  delivery { worker = "w1" }
}
job "heir_of_one" {
  type = "noop"
  predecessor { job = job.to_one }
}
