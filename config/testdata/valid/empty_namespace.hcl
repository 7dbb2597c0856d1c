workflow "w" {
  namespace = ""
}
