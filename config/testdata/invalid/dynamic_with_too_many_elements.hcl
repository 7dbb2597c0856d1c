job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
  dynamic "predecessor" {
    for_each = setproduct(range(101), range(100)) # ERROR: Value too large | has 10100 elements; at most 10000 blocks
    content {
      job = job.a
    }
  }
}
