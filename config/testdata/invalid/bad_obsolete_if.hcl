#! var key=s3cret
variable "key" {
  type      = string
  sensitive = true
}
job "a" {
  type = "noop"
  obsolete_if {} # ERROR: Missing argument | needs the argument "labels"
}
job "b" {
  type = "noop"
  obsolete_if { labels = {} } # ERROR: Missing argument | Obsolete_if has no labels
}
job "c" {
  type = "noop"
  obsolete_if {
    labels = { version = var.key } # ERROR: Sensitive value not allowed | Labels is shown in plans
  }
}
job "d" {
  type = "noop"
  obsolete_if {
    labels = {
      ""     = "x" # ERROR: Invalid label | empty name
      object = "x" # ERROR: Invalid label | reserved
      of     = "*" # ERROR: Invalid label | stands for any value
    }
  }
}
job "e" {
  type = "noop"
  obsolete_if { labels = ["x"] } # ERROR: Wrong type of value | Labels needs an object of strings
}
job "f" {
  type = "noop"
  obsolete_if { labels = null } # ERROR: Missing argument | Obsolete_if has no labels
}
