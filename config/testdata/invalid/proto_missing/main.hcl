workflow "w" {
  proto {
    files = [
      "nowhere.proto",   # ERROR: Invalid .proto file | "nowhere.proto" does not exist. Files are paths
      "lost_import.proto",
      "../proto_both/x.proto", # ERROR: Invalid .proto file | neither below the workflow's directory nor below one of import_paths
      "sub", # ERROR: Invalid .proto file | a directory
    ]
  }
}
