job "a" { type = "noop" }
job "b" { type = "noop" }
job "c" { type = "noop" }
job "each" {
  for_each = toset(["x", "y"])
  type     = "noop"
}
moved {
  from = job.a # ERROR: Invalid move | job.a is still declared, at
  to   = job.b
}
moved {
  from = job.gone
  to   = job.cc # ERROR: Reference to undeclared job | Did you mean "c"?
}
moved {
  from = job.gone # ERROR: Invalid move | job.gone has moved to job.cc already
  to   = job.c
}
moved {
  from = job.left
  to   = job.b # ERROR: Invalid move | job.a has moved here already
}
moved {
  from = job.same
  to   = job.same # ERROR: Invalid move | the same job
}
moved {
  from = job.each["x"] # ERROR: Invalid move | job.each["x"] is still declared
  to   = job.each["z"] # ERROR: No such job instance | no instance with the key "z"
}
moved {
  from = job.k["x"]
  to   = job.each # ERROR: Missing key of a job | Write job.each["x"] for one of them
}
moved {
  from = job.m
  to   = job.c["x"] # ERROR: No such job instance | neither count nor for_each
}
moved {
  from = "job.n" # ERROR: Invalid move | Write it without quotes: job.n
  to   = local.x # ERROR: Invalid move | the address of a job, such as job.load
}
moved {
  from = job.o[local.x] # ERROR: Invalid move | with its keys written out
  to   = job.p.uuid     # ERROR: Invalid move | job.p.uuid is no address of a job or module. Write job.p
}
moved {
  from = job.o[1.5] # ERROR: Invalid move | neither a text nor a whole number
  to   = job # ERROR: Invalid move | the address of a job
}
moved { # ERROR: Missing argument | needs the argument "to"
  from = job.o
  of   = 1 # ERROR: Unsupported argument
}
moved { # ERROR: Invalid move | in a circle, so none of them has a place: job.r1 -> job.r2 -> job.r3 -> job.r1
  from = job.r1
  to   = job.r2
}
moved {
  from = job.r2
  to   = job.r3
}
moved {
  from = job.r3
  to   = job.r1
}
moved "x" { # ERROR: Unexpected label
  from = job.s
  to   = job.c
}
