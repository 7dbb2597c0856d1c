#! var limits={ cpu = 2 }
#! var regions=["eu", "us"]
#! env WAYBILL_VAR_secret={"key": "hunter2"}
#! var note={is no object
#! var text=["eu"]
#! var typed={ cpu = 2 }
variable "limits" {}  # WARNING@-var limits:1: Value taken as text | Variable "limits" has no type, so its value from -var limits is this text and no list, map or object.
variable "regions" {} # WARNING@-var regions:1: Value taken as text | or type = any
variable "secret" {   # WARNING: Value taken as text | from environment variable WAYBILL_VAR_secret is this text
  sensitive = true
}
variable "note" {}
variable "text" {
  type = string
}
variable "typed" {
  type = any
}
