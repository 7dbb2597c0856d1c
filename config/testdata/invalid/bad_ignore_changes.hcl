job "text" {
  type = "noop"
  lifecycle { ignore_changes = "all" } # ERROR: Invalid lifecycle | is a list of arguments and blocks
}
job "quoted" {
  type = "noop"
  lifecycle { ignore_changes = ["priority"] } # ERROR: Invalid lifecycle | write priority without quotes
}
job "value" {
  type = "noop"
  lifecycle { ignore_changes = [1 + 1] } # ERROR: Invalid lifecycle | holds names of arguments and blocks
}
job "all" {
  type = "noop"
  lifecycle { ignore_changes = [priority, all] } # ERROR: Invalid lifecycle | write ignore_changes = all
}
job "number" {
  count = 1
  type  = "noop"
  lifecycle { ignore_changes = [count] } # ERROR: Invalid lifecycle | Count is not part of what a job is or does
}
job "unknown" {
  type = "noop"
  lifecycle { ignore_changes = [prioritie] } # ERROR: Invalid lifecycle | Did you mean "priority"?
}
job "many" {
  type = "noop"
  lifecycle { ignore_changes = [predecessor.run_if] } # ERROR: Invalid lifecycle | write predecessor
}
job "element" {
  type = "noop"
  lifecycle { ignore_changes = [exec.command[0]] } # ERROR: Invalid lifecycle | Write exec.command
}
job "inner" {
  type = "noop"
  lifecycle { ignore_changes = [exec.envs] } # ERROR: Invalid lifecycle | Did you mean "env"?
}
