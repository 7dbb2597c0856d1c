job "a" { type = "noop" }
job "b" {
  exec { command = ["sh", "-c", "echo ${job.a.result.rows}"] } # ERROR: Result cannot stand here | This argument is code for sh
}
job "c" {
  exec { command = ["env", "/usr/bin/python3.12", "-c", job.a.result.code] } # ERROR: Result cannot stand here | code for python
}
job "d" {
  exec { command = ["bash", "-euc", job.a.result.code] } # ERROR: Result cannot stand here | code for bash
}
job "e" {
  exec { command = ["node", "--eval", job.a.result.code] } # ERROR: Result cannot stand here | code for node
}
