# Payloads of messages: every kind of field, results and references to uuids, what is sensitive, and types that are no messages.
#! var key=s3cret
workflow "typed" {
  proto {
    files        = ["protos/shop/v1/load.proto", "protos/old.proto"]
    import_paths = ["protos"]
  }
}

variable "key" {
  type      = string
  sensitive = true
}

job "load" {
  type = "shop.v1.Load"
  payload = {
    day      = "2026-11-20"
    regions  = ["eu", "us"]
    mode     = "MODE_FULL"
    dryRun   = true
    limit    = -5
    offset   = "18446744073709551615"
    delta    = 42
    ratio    = 0.25
    weight   = "NaN"
    checksum = base64encode("bytes")
    items = [
      { sku = "a-1", price = { currency = "EUR", units = 5 } },
      { sku = "a-2", parts = [{ sku = "a-3" }] },
    ]
    totals   = { eu = { units = 1 }, us = {} }
    modes    = { "1" = "MODE_DELTA", "-2" = 1 }
    names    = { "true" = "yes", "false" = "no" }
    url      = "https://example.com"
    refund   = null
    attempts = 0
    since    = "2026-11-20T06:00:00.5Z"
    window   = "1h30m"
    mask     = "day,user.lastName"
    extra    = { a = [1, true, null, { b = "c" }] }
    anything = null
    list     = [1, "two"]
    detail   = { "@type" = "type.googleapis.com/common.Money", units = 7 }
    note     = ""
    count    = 9007199254740993
    color    = 4294967295
    pauses   = ["1s", "0.5s"]
  }
}

job "empty" {
  type = "shop.v1.Nothing"
}

job "nested" {
  type    = "shop.v1.Load.Item"
  payload = { sku = "b-1" }
}

job "raw" {
  type           = "common.Money"
  payload_base64 = base64encode("\n\u0003EUR")
}

job "old" {
  type    = "old.Task"
  payload = { name = "x", Step = [{ what = "y" }], "[old.owner]" = "z" }
}

job "secret" {
  type = "shop.v1.Load"
  payload = {
    day   = "key ${var.key}"
    extra = { key = var.key, open = 1 }
    note  = job.load.uuid
    items = [{ sku = "after ${job.load.uuid} and ${job.old.uuid}" }]
  }
}

job "other" {
  type    = "another.v1.Type"
  payload = { any = ["thing", 1] }
}
