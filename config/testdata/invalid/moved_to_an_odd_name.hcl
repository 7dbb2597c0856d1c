job "a" {
  type = "noop"
}
moved {
  from = job.é # ERROR: Invalid move | From in a moved block is the address of a job, such as job.load.
  to   = job.a
}
