queue "q" {
  concurrency = 0   # ERROR: Value out of range | from 1 to 1000000
  weight      = 1.5 # ERROR: Value out of range | not 1.5
}
