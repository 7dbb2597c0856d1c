job "a" {
  type = "noop"
  precondition { # ERROR: Missing argument | A precondition block needs the argument "error_message".
    condition = true
  }
}
