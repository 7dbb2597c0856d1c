job "a" {
  type = "noop"
}
locals {
  x = 1
}
