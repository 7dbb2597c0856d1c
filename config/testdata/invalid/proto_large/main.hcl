workflow "w" {
  proto {
    files = ["deep.proto"]
  }
}
