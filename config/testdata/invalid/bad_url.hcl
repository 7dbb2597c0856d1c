job "a" {
  http {
    url = "example.com/path" # ERROR: Invalid URL | such as https://example.com/path
  }
}
job "b" {
  http {
    url    = "https://example.com"
    method = "post"               # ERROR: Unknown choice | Did you mean "POST"?
    expect = [200, 20]            # ERROR: Value out of range | from 100 to 599
    headers = { "Content Type" = "x" } # ERROR: Invalid key | cannot be the name of a header
  }
}
