workflow "w" {
  redis { url = "localhost" } # ERROR: Invalid URL | begins with redis://
}
