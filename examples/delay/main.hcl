# When a job starts: after its edges, and not before its time.

workflow "delay" {}

job "order" {
  exec { command = ["echo", "the order has come in"] }
}

# Work that takes two seconds. A worker waits here, which is meant for trying out.
job "pack" {
  predecessor { job = job.order }
  sleep { duration = "2s" }
}

# A time that has passed does not hold anything up: this starts when pack is complete.
job "ship" {
  predecessor { job = job.pack }
  run_at { time = "2026-01-01T00:00:00Z" }
  exec { command = ["echo", "the parcel is on its way"] }
}

# Five seconds from the moment ship is complete. Nobody waits meanwhile: the job lies in the store until it is due.
job "survey" {
  predecessor { job = job.ship }
  run_at { after = "5s" }
  exec { command = ["echo", "how do you like your order?"] }
}

# It follows the survey, so it waits for the same time.
job "archive" {
  predecessor { job = job.survey }
  exec { command = ["echo", "the order is closed"] }
}
