job "hello" {
  exec {
    command = ["echo", "Hello, world!"]
  }
}
