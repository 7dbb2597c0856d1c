job "a" {
  type = "noop"
}
job "b" {
  type = "noop"
}
moved {
  from = job.old
  to   = job.bb # ERROR: Reference to undeclared job | No job "bb" is declared in module.many["x"], so nothing can move there. Did you mean "b"? This is in module.many["x"].
}
moved {
  from = job.b # ERROR: Invalid move | module.many["x"].job.b is still declared
  to   = job.a
}
