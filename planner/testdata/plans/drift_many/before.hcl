workflow "orders" {}

job "load" {
  count = 14
  exec { command = ["load", tostring(count.index)] }
}
