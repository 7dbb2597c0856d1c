job "a" {
  type ="noop" # ERROR: Invalid character | in front of a newline
}
