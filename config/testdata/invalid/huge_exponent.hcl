locals {
  a = 1e123456 # ERROR: Number too large
}
