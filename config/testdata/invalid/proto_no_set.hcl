workflow "w" {
  proto {
    descriptor_set = "nowhere.binpb" # ERROR: Invalid .proto file | "nowhere.binpb" does not exist
  }
}
