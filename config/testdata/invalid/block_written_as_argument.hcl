job "load" {
  exec = { command = ["true"] } # ERROR: Unsupported argument | write exec { ... } without an equals sign
  type = "noop"
}
