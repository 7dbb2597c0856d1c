job "a" {
  exec { command = [secret_env("PROGRAM"), "x"] } # ERROR: Secret cannot stand here | The program has to be written out; secrets may be its arguments.
}
job "b" {
  exec { command = ["sh", "-c", "psql ${secret_env("A")}"] } # ERROR: Secret cannot stand here | This argument is code for sh
}
job "c" {
  exec {
    shell   = true
    command = "psql ${secret_env("A")}" # ERROR: Secret cannot stand here | The command is code for the shell
  }
}
job "d" {
  http { url = "https://${secret_env("HOST")}/x" } # ERROR: Secret cannot stand here | A secret is a whole url, or a value of the path
}
job "e" {
  http { url = "${secret_env("BASE")}/x" } # ERROR: Secret cannot stand here | A secret is a whole url
}
job "f" {
  http { url = "https://example.com/?q=${jsonencode({ a = secret_env("A") })}" } # ERROR: Result cannot stand here | In a url a result or secret is a value
}
