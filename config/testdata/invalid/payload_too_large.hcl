job "a" { # ERROR: Payload too large | at most 1024 KiB
  type    = "shop.Load"
  payload = { text = join("", [for i in range(1024) : format("%1100s", i)]) }
}
