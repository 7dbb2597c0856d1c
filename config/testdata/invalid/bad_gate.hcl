#! var key=s3cret
variable "key" {
  type      = string
  sensitive = true
}
job "a" {
  type = "noop"
  gate { waiting = [] } # ERROR: Missing argument | waits for no label
}
job "b" {
  type = "noop"
  gate {} # ERROR: Missing argument | needs the argument "waiting"
}
job "c" {
  type = "noop"
  gate {
    waiting = [
      "x",
      "",          # ERROR: Invalid label | is empty
      "*",         # ERROR: Invalid label | compared exactly
      "worker",    # ERROR: Invalid label | such as "my-worker"
      "x",         # ERROR: Invalid label | stands twice in waiting
      ["y"],       # ERROR: Wrong type of value | and this is a list
      job.a.uuid,  # ERROR: Invalid label | job.NAME.address
      "a\nb",      # ERROR: Invalid label | control character
      local.long,  # ERROR: Invalid label | has 129 bytes; at most 128
    ]
  }
}
job "d" {
  type          = "noop"
  triggers_gate = "x" # ERROR: Wrong type of value | such as ["loaded"]
}
job "e" {
  type          = "noop"
  triggers_gate = [var.key] # ERROR: Sensitive value not allowed | Triggers_gate is shown in plans
}
job "f" {
  type          = "noop"
  triggers_gate = [for i in range(65) : "x${i}"] # ERROR: Invalid label | more than 64 labels
}
job "g" {
  type          = "noop"
  triggers_gate = concat(["y"], ["y"]) # ERROR: Invalid label | stands twice in triggers_gate
}
job "h" {
  type = "noop"
  gate { waiting = null } # ERROR: Missing argument | waits for no label
}
job "i" {
  type = "noop"
  gate { wating = ["x"] } # ERROR: Unsupported argument | Did you mean "waiting"? || ERROR: Missing argument
}
locals {
  long = join("", [for i in range(129) : "x"])
}
