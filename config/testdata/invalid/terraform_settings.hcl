terraform { # ERROR: Unsupported block | workflow "NAME"
  required_version = ">= 1.0"
}
