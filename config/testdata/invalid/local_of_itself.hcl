locals {
  a = concat(local.a, [1]) # ERROR: Values in a cycle | local.a refers to itself
}
