job "a" {
  exec {
    command = ["./missing.sh"] # ERROR: Missing input file | "missing.sh" does not exist
  }
}
