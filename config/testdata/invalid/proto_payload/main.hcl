# What is wrong with payloads of messages: all of it is told, each at its place.
#! var key=s3cret
workflow "w" {
  proto {
    files        = ["protos/shop/v1/load.proto", "protos/old.proto"]
    import_paths = ["protos"]
  }
}

variable "key" {
  type      = string
  sensitive = true
}

locals {
  day = 20261120
}

job "scalars" {
  type = "shop.v1.Load"
  payload = {
    dya      = "2026-11-20" # ERROR: Unknown field of a message | The message shop.v1.Load has no field "dya". Did you mean "day"?
    day      = local.day    # ERROR: Payload does not fit its message | Payload.day is of type string, and this is 20261120. Put it in quotes
    mode     = "MODE_FUL"   # ERROR: Payload does not fit its message | Payload.mode is of type shop.v1.Mode, and this is the string "MODE_FUL". Did you mean "MODE_FULL"?
    dry_run  = "true"       # ERROR: Payload does not fit its message | Payload.dry_run is of type bool, and this is the string "true". Write true or false.
    limit    = 2147483648   # ERROR: Payload does not fit its message | holds whole numbers from -2147483648 to 2147483647
    offset   = -1           # ERROR: Payload does not fit its message | of type uint64, and this is -1. It holds whole numbers from 0 to 18446744073709551615
    delta    = 1.5          # ERROR: Payload does not fit its message | Write a whole number
    ratio    = 1e39         # ERROR: Payload does not fit its message | more than the type holds
    weight   = "heavy"      # ERROR: Payload does not fit its message | "NaN", "Infinity" or "-Infinity"
    checksum = "a!"         # ERROR: Payload does not fit its message | Bytes are written in base64
    color    = true         # ERROR: Payload does not fit its message | Payload.color is of type fixed32, and this is true
    attempts = "many"       # ERROR: Payload does not fit its message | Write a whole number
  }
}

job "lists" {
  type = "shop.v1.Load"
  payload = {
    regions = "eu" # ERROR: Payload does not fit its message | of type repeated string, which is written as a list, and this is the string "eu"
    items = [
      { sku = "a" },
      { sku = ["b"], price = { units = "x" } }, # ERROR: Payload does not fit its message | Payload.items[1].sku is of type string, and this is a list || ERROR: Payload does not fit its message | Payload.items[1].price.units is of type int64
      { prize = {} },                           # ERROR: Unknown field of a message | The message shop.v1.Load.Item has no field "prize". Did you mean "price"?
      null,                                     # ERROR: Payload does not fit its message | Payload.items[3] is null
      "c",                                      # ERROR: Payload does not fit its message | Payload.items[4] is a message shop.v1.Load.Item, which is written as an object, and this is the string "c"
    ]
    totals = [1]                 # ERROR: Payload does not fit its message | of type map<string, common.Money>, which is written as an object
    modes  = { one = "MODE_X" }  # ERROR: Payload does not fit its message | The keys of payload.modes are of type int32, and "one" is none
    names  = { "true" = 1 }      # ERROR: Payload does not fit its message | Payload.names.true is of type string
  }
}

job "choices" {
  type = "shop.v1.Load"
  payload = {
    url     = "https://example.com"
    refund  = {} # ERROR@57: Payload does not fit its message | "refund" and "url" are of the oneof "source"
    dry_run = true
    dryRun  = false # ERROR@59: Payload does not fit its message | "dryRun" and "dry_run" are two names of the same field
    modes   = { "1" = 7, "2" = "S" } # ERROR: Payload does not fit its message | It is one of MODE_UNSPECIFIED, MODE_FULL, MODE_DELTA || ERROR: Payload does not fit its message | Payload.modes["2"]
  }
}

job "known" {
  type = "shop.v1.Load"
  payload = {
    since    = "yesterday"                   # ERROR: Payload does not fit its message | a time of RFC 3339
    window   = 5                             # ERROR: Payload does not fit its message | a duration, such as "1.5s" or "1h30m", and this is 5
    mask     = "user.last_name"              # ERROR: Payload does not fit its message | lowerCamelCase
    extra    = [1]                           # ERROR: Payload does not fit its message | a google.protobuf.Struct, which is written as an object, and this is a list
    anything = pow(10, 309)                  # ERROR: Payload does not fit its message | more than that holds
    list     = {}                            # ERROR: Payload does not fit its message | a google.protobuf.ListValue, which is written as a list
    detail   = "common.Money"                # ERROR: Payload does not fit its message | a google.protobuf.Any, written as an object with "@type"
    note     = 5                             # ERROR: Payload does not fit its message | Payload.note is of type string, and this is 5
    pauses   = ["1s", "later"]               # ERROR: Payload does not fit its message | Payload.pauses[1] is a google.protobuf.Duration
    count    = "9223372036854775808"         # ERROR: Payload does not fit its message | holds whole numbers from
  }
}

job "any_untyped" {
  type    = "shop.v1.Load"
  payload = { detail = { units = 1 } } # ERROR: Payload does not fit its message | Payload.detail is a google.protobuf.Any, written as
}

job "any_unknown" {
  type    = "shop.v1.Load"
  payload = { detail = { "@type" = "type.googleapis.com/common.Mony" } } # ERROR: Unknown message | Did you mean "common.Money"?
}

job "any_known" {
  type    = "shop.v1.Load"
  payload = { detail = { "@type" = "type.googleapis.com/google.protobuf.Duration", seconds = 1 } } # ERROR: Payload does not fit its message | with a google.protobuf.Duration in it
}

job "any_inner" {
  type    = "shop.v1.Load"
  payload = { detail = { "@type" = "type.googleapis.com/common.Money", unit = 1 } } # ERROR: Unknown field of a message | The message common.Money has no field "unit"
}

job "later" {
  type = "shop.v1.Load"
  payload = {
    checksum = job.raw.uuid        # ERROR: Payload does not fit its message | a job's uuid is known only when it is submitted
    limit    = job.raw.result.rows # ERROR: Payload does not fit its message | a result or a secret of the worker is known only when the job starts
    extra    = { "${job.raw.uuid}" = 1 } # ERROR: Payload does not fit its message | keys cannot be put in later
  }
}

job "sent_as_json" {
  type = "shop.v1.Load"
  payload = {
    day = "on ${job.raw.result.day}" # WARNING: Payload is sent as JSON | sent as the JSON form of shop.v1.Load
  }
}

job "hidden" {
  type = "shop.v1.Load"
  payload = {
    day   = "x"
    limit = var.key               # ERROR: Payload does not fit its message | Payload.limit is of type int32, and this is a string. Write a whole number.
    mode  = var.key               # ERROR: Payload does not fit its message | this is a string. It is one of MODE_UNSPECIFIED
    since = var.key               # ERROR: Payload does not fit its message | and this is a string.
    items = [{ price = { units = "${var.key}" } }] # ERROR: Payload does not fit its message | Payload.items[0].price.units is of type int64, and this is a string
  }
}

job "raw" {
  type           = "common.Money"
  payload_base64 = base64encode("{}") # ERROR: Payload does not fit its message | The bytes of payload_base64 are no common.Money
}

job "required" { # ERROR: Payload does not fit its message | Payload needs the field "name", of type string: the message old.Task requires it
  type = "old.Task"
}

job "required_too" {
  type    = "old.Task"
  payload = { tries = "a" } # ERROR: Payload does not fit its message | Payload needs the field "name" || ERROR: Payload does not fit its message | Payload.tries
}

job "misspelt" {
  type    = "shop.v1.Laod" # ERROR: Unknown message | The package shop.v1 of the workflow's .proto files has no message "Laod". Did you mean "shop.v1.Load"?
  payload = { anything = 1 }
}

job "deep" {
  type    = "shop.v1.Load"
  payload = jsondecode(file("deep.json")) # ERROR: Payload does not fit its message | nests more than 100 messages
}
