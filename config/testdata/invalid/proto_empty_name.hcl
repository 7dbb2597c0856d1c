workflow "w" {
  proto {
    files = [
      "", # ERROR: Wrong type of value | Files has an empty name or a null
    ]
  }
}
