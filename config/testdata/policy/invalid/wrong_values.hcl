required_labels = ["worker", "", 1 == 1 ? "team" : 2, "*"] # ERROR: Invalid label | reserved || ERROR: Invalid label | empty name || ERROR: Invalid label | "*"
deny "a" {
  condition     = "maybe" # ERROR: Wrong type of value | needs true or false
  error_message = "No."
}
deny "b" {
  condition     = null # ERROR: Wrong type of value | cannot be null
  error_message = null # ERROR: Wrong type of value | cannot be null
}
deny "c" {
  condition     = true
  error_message = " " # ERROR: Invalid text | is empty
}
deny "d" {
  for_each      = plan.summary.add # ERROR: Wrong type of value | this is a number
  condition     = true
  error_message = "No."
}
deny "e" {
  for_each      = 5 # ERROR: Wrong type of value | asked once needs no for_each
  condition     = true
  error_message = "No."
}
deny "f" {
  for_each      = plan.changes
  condition     = timestamp() == "x" # ERROR: Function not available | There is no function timestamp
  error_message = uper("no")         # ERROR: Call to unknown function | Did you mean "upper"?
}
deny "g" {
  for_each      = null # ERROR: Wrong type of value | cannot be null
  condition     = true
  error_message = "No."
}
deny "h" {
  condition     = file("nowhere.txt") == "" # ERROR: Invalid function argument | nowhere.txt
  error_message = "No."
}
deny "i" {
  for_each      = setproduct(range(200), range(200)) # ERROR: Too many steps | has 40000 elements
  condition     = true
  error_message = "No."
}
