resource "null_resource" "x" { # ERROR: Unsupported block | Write job "NAME" { ... }
}
