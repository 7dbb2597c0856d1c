job "a" {
  type    = "shop.Load"
  payload = [1] # ERROR: Wrong type of value | Payload needs an object
}
