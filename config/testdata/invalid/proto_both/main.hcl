workflow "w" {
  proto {
    files          = ["a.proto"]
    descriptor_set = "a.binpb" # ERROR: Conflicting arguments | one of files and descriptor_set
  }
}
