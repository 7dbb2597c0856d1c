job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
  dynamic "predecessor" {
    for_each = { load = "success", clean = "sucess" }
    content {
      job    = job.a
      run_if = predecessor.value # ERROR: Unknown choice | Did you mean "success"? This is about the element "clean" of the dynamic block at
    }
  }
  dynamic "precondition" {
    for_each = [true, false]
    content {
      condition     = precondition.value # ERROR: Job precondition failed | It does not hold. This is a precondition of job.b. This is about the element 1 of the dynamic block
      error_message = "It does not hold."
    }
  }
}
