#! version 0.3.0
workflow "w" {
  required_version = ">= 0.1, < 0.3" # ERROR: Unsupported version of Waybill | This is Waybill 0.3.0, and the workflow needs >= 0.1, < 0.3
}
