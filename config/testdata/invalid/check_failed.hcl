#! var day=2020-01-01
variable "day" {
  type = string
}
job "a" {
  type = "noop"
}
check "day" {
  assert {
    condition     = var.day > "2025" # ERROR: Invalid operand
    error_message = "The day is long ago."
  }
  assert {
    condition     = startswith(var.day, "2026") # WARNING: Check block assertion failed | The day 2020-01-01 is not of this year. This is an assertion of the check "day".
    error_message = "The day ${var.day} is not of this year."
  }
  assert {
    condition     = strcontains(job.a.address, "a")
    error_message = "Never."
  }
}
