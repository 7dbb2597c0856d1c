workflow "orders" {}

queue "etl" {
  concurrency = 2
}

job "load" {
  count = 5
  queue = "etl"
  exec { command = ["load", tostring(count.index)] }
}
