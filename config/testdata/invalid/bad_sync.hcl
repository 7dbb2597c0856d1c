#! var key=s3cret
variable "key" {
  type      = string
  sensitive = true
}
job "a" {
  type = "noop"
  sync = {
    ""           = "x"          # ERROR: Invalid key | empty
    list         = ["x"]        # ERROR: Wrong type of value | jsonencode(VALUE)
    big          = local.big    # ERROR: Value too large | has 1025 bytes; at most 1024
    nul          = "a\u0000b"   # ERROR: Invalid text | NUL byte
    of           = job.b.uuid   # ERROR: Invalid text | job.NAME.address
    (local.long) = "x"          # ERROR: Invalid key | has 129 bytes; at most 128
  }
}
job "b" {
  type = "noop"
  sync = "0" # ERROR: Wrong type of value | such as { cursor = "0" }
}
job "c" {
  type = "noop"
  sync = { token = var.key } # ERROR: Sensitive value not allowed | Sync is shown in plans and stored as it is
}
job "d" {
  type = "noop"
  sync = { for i in range(65) : "n${i}" => i } # ERROR: Value too large | 65 values; at most 64
}
job "e" {
  type       = "noop"
  max_cycles = -1 # ERROR: Value out of range | Max_cycles is a whole number from 0
}
job "f" {
  type       = "noop"
  max_cycles = 1.5 # ERROR: Value out of range | and not 1.5
}
job "g" {
  type = "noop"
  sync = { for i in range(16) : "n${i}" => substr(local.big, 0, 1024) } # ERROR: Value too large | 16422 bytes of names and values; at most 16384
}
locals {
  long = join("", [for i in range(129) : "x"])
  big  = "${join("", [for i in range(1024) : "x"])}x"
}
