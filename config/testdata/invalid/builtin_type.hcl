job "a" {
  type = "exec" # ERROR: Conflicting arguments | Write it as a block: exec { ... }
}
