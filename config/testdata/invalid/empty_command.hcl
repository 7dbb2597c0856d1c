job "a" {
  exec {
    command = [] # ERROR: Empty command | Its first element is the program
  }
}
job "b" {
  exec {
    shell   = true
    command = "" # ERROR: Empty command | The command for the shell is empty
  }
}
job "c" {
  exec {
    command = ["", "x"] # ERROR: Empty command | The first element of the command
  }
}
