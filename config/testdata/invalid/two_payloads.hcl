job "a" {
  type           = "shop.Load"
  payload        = {}
  payload_base64 = "" # ERROR: Conflicting arguments | one of payload and payload_base64
}
