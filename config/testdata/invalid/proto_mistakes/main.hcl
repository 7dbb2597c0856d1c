# Every mistake of all files is told, where it is.
workflow "w" {
  proto {
    files = ["a.proto", "syntax.proto", "types.proto", "unknown.proto", "twice.proto", "circle.proto", "self.proto"]
  }
}

job "a" {
  type    = "shop.Load" # nothing is known of it
  payload = { day = 1 }
}
