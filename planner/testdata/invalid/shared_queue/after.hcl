job "a" {
  type = "noop"
}
queue "etl" {
  concurrency = 8
}
