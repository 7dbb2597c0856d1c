job "a" {
  exec {
    command = ["cat"]
    inputs  = [
      "missing.csv", # ERROR: Missing input file | "missing.csv" does not exist
      ".",           # ERROR: Missing input file | is a directory and not a regular file
      "",            # ERROR: Missing input file | is no name of a file
    ]
  }
}
