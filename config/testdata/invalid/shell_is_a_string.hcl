job "line" {
  exec { # ERROR: Missing argument | needs the argument "command"
    shell = "./load.sh | sort" # ERROR: Wrong type of value | Write command = "./load.sh | sort" and shell = true.
  }
}

job "both" {
  exec {
    command = ["sort"]
    shell   = "/bin/${"ba"}sh" # ERROR: Wrong type of value | What the shell is to run stands in command, with shell = true.
  }
}

job "text" {
  exec {
    command = "./load.sh | sort"
    shell   = "true"
  }
}
