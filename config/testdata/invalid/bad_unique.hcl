job "a" {
  type   = "noop"
  unique = "" # ERROR: Invalid unique key | set it to null
}
job "b" {
  type   = "noop"
  unique = job.a.uuid # ERROR: Invalid unique key | another one each time
}
job "c" {
  type   = "noop"
  unique = join("", [for i in range(257) : "x"]) # ERROR: Invalid unique key | has 257 bytes; at most 256
}
job "d" {
  type   = "noop"
  unique = "a\nb" # ERROR: Invalid unique key | control character
}
job "e" {
  type   = "noop"
  unique = ["a"] # ERROR: Wrong type of value
}
job "f" {
  type   = "noop"
  uniqe  = "a" # ERROR: Unsupported argument | Did you mean "unique"?
}
