job "a" {
  type           = "shop.Load"
  payload_base64 = "a!" # ERROR: Invalid base64 | filebase64()
}
