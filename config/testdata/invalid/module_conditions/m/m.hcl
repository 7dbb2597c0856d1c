variable "size" {}

job "a" {
  type = "noop"
  precondition {
    condition     = var.size <= 10 # ERROR: Job precondition failed | Size is 12. This is a precondition of module.m["b"].job.a. || ERROR: Job precondition failed | module.m["c"].job.a || ERROR: Job precondition failed | module.n.job.a
    error_message = "Size is ${var.size}."
  }
}

check "size" {
  assert {
    condition     = var.size <= 12 # WARNING: Check block assertion failed | This is in module.m["c"]. || WARNING: Check block assertion failed | This is in module.n.
    error_message = "Size is ${var.size}."
  }
}

output "size" {
  value = var.size
  precondition {
    condition     = var.size <= 13 # ERROR: Output precondition failed | module.n.output.size
    error_message = "Size is ${var.size}."
  }
}
