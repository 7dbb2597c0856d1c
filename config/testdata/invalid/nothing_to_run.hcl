job "a" { # ERROR: Nothing to run | Give it one of exec
  timeout = "1m"
}
