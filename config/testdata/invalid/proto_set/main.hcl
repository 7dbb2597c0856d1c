workflow "w" {
  proto {
    descriptor_set = "text.binpb" # ERROR: Invalid .proto file | "text.binpb" cannot be used: it is no compiled descriptor set
  }
}
