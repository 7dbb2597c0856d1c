# Messages of a compiled set of descriptors, which lacks the files of protobuf itself.
workflow "typed" {
  proto {
    descriptor_set = "messages.binpb"
  }
}

job "a" {
  type    = "shop.v1.Load"
  payload = { day = "2026-11-20", totals = { eu = { units = 1 } }, since = "2026-11-20T06:00:00Z" }
}
