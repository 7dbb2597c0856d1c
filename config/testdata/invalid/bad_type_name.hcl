job "load" {
  type = "shop/Load" # ERROR: Invalid name | cannot be the name of a type
}
