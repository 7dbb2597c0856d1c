job "a" {
  sleep { duration = "5 minutes" } # ERROR: Invalid duration | such as "5m"
}
job "b" {
  sleep { duration = null } # ERROR: Wrong type of value | Duration cannot be null
}
