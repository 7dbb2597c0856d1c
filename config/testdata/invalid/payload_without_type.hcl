job "a" {
  payload = {} # ERROR: Conflicting arguments | belongs to jobs with a type
  exec {
    command = ["true"]
  }
}
