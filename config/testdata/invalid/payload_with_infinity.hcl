job "a" {
  type    = "shop.Load"
  payload = { a = 1 / 0 } # ERROR: Wrong type of value | an infinite number cannot be written
}
