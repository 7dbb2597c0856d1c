#! var day=today
variable "day" {
  type = string
}
job "a" {
  for_each = { eu = 1, us = 2, asia = 3 }
  type     = "noop"
  precondition {
    condition     = can(regex("^\\d{4}-", var.day)) || each.value == 2 # ERROR: Job precondition failed | The day today of eu is no date. This is a precondition of job.a["eu"]. || ERROR: Job precondition failed | job.a["asia"]
    error_message = "The day ${var.day} of ${each.key} is no date."
  }
}
