job "a" {
  type = "noop"
  meta = {
    worker       = "w1"           # ERROR: Invalid label | such as "my-worker"
    "tick+1"     = "x"            # ERROR: Invalid label | reserved
    ""           = "x"            # ERROR: Invalid label | empty name
    "*"          = "x"            # ERROR: Invalid label | stands for any name
    team         = "*"            # ERROR: Invalid label | stands for any value
    list         = ["a"]          # ERROR: Wrong type of value | The label "list" needs a string, and this is a list
    uuid         = job.b.uuid     # ERROR: Invalid label | job.NAME.address
    nul          = "a\u0000b"     # ERROR: Invalid label | NUL byte
    (local.long) = "x"            # ERROR: Invalid label | has 129 bytes; at most 128
    big          = local.long_value # ERROR: Invalid label | a value of 1032 bytes
  }
}
job "b" {
  type = "noop"
  meta = ["x"] # ERROR: Wrong type of value | Meta needs an object of strings
}
job "c" {
  type = "noop"
  meta = { for i in range(65) : "n${i}" => i } # ERROR: Invalid label | 65 labels; at most 64
}
job "d" {
  type = "noop"
  meta = merge({ cancel = "x" }) # ERROR: Invalid label | reserved
}
job "e" {
  type   = "noop"
  labels = {} # ERROR: Unsupported argument | Did you mean "meta"?
}
locals {
  long       = join("", [for i in range(129) : "x"])
  long_value = "${local.long}${local.long}${local.long}${local.long}${local.long}${local.long}${local.long}${local.long}"
}
