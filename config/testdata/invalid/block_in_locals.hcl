locals {
  a { # ERROR: Unexpected "a" block
  }
}
