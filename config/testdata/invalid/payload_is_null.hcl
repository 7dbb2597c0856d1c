job "a" {
  type    = "shop.Load"
  payload = null # ERROR: Wrong type of value | Payload cannot be null
}
