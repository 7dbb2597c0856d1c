# Printing a book: who waits for what, with a parent, its children, and heirs.

workflow "fan-out" {}

variable "chapters" {
  type    = number
  default = 4
}

# The parent. Its own work is over when the command ends; it is complete when its children are.
job "typeset" {
  exec { command = ["echo", "typesetting the manuscript"] }
}

# Children: each starts as soon as typeset's own work is done.
job "chapter" {
  count = var.chapters

  parent { job = job.typeset }
  exec { command = ["echo", "printing chapter ${count.index + 1}"] }
}

# Nothing leads to the cover: it starts at once.
job "cover" {
  exec { command = ["echo", "printing the cover"] }
}

# An heir of typeset: one edge, and yet it waits for every chapter. It names no chapter, so more of them change nothing here.
job "sew" {
  predecessor { job = job.typeset }
  exec { command = ["echo", "sewing the chapters together"] }
}

# An heir of two: fan-in. Blocks combine with AND, so two blocks would say the same.
job "bind" {
  predecessor { jobs = [job.sew, job.cover] }
  exec { command = ["echo", "binding the book"] }
}
