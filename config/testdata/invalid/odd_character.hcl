job "a" {
  type = @noop # ERROR: Invalid character | not part of the language
}
