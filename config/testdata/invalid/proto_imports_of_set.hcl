workflow "w" {
  proto {
    descriptor_set = "a.binpb"
    import_paths   = ["."] # ERROR: Conflicting arguments | takes no import_paths
  }
}
