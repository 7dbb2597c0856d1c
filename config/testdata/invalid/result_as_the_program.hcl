job "a" { type = "noop" }
job "b" {
  exec { command = [job.a.result.program, "x"] } # ERROR: Result cannot stand here | The program has to be written out
}
job "c" {
  exec { command = ["${job.a.result.name}.sh"] } # ERROR: Result cannot stand here | whoever can write there must not thereby decide what runs
}
