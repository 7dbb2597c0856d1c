#! version 0.3.0
workflow "w" {
  required_version = "at least 1" # ERROR: Invalid version constraint | ">= 0.1, < 2.0"
}
