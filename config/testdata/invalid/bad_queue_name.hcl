queue "a:b" {} # ERROR: Invalid name | cannot be the name of a queue

job "load" {
  type  = "noop"
  queue = "a b" # ERROR: Invalid name | cannot be the name of a queue
}
