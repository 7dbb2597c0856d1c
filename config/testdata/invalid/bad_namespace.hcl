workflow "x" {
  namespace = "{shop}" # ERROR: Invalid name | cannot be the name of a namespace
}
