job "a" {
  type    = ["noop"] # ERROR: Wrong type of value | Type needs a string, and this is a list
  timeout = {}       # ERROR: Wrong type of value | and this is an object
}
queue "q" {
  concurrency = "many" # ERROR: Wrong type of value | Concurrency needs a number, and this is a string
  paused      = "yes"  # ERROR: Wrong type of value | Paused needs true or false
}
