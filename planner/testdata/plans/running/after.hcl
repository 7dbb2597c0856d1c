workflow "orders" {}

job "finishes" {
  exec { command = ["work", "2"] }
}

job "cancels" {
  exec { command = ["work", "2"] }
  lifecycle { on_change = "cancel" }
}

job "ignores" {
  exec { command = ["work", "2"] }
  lifecycle { on_change = "ignore" }
}

job "retries" {
  exec { command = ["work", "1"] }
  retry { max_attempts = 10 }
}

job "comes_back" {
  exec { command = ["work", "1"] }
}

job "after" {
  predecessor { jobs = [job.finishes, job.cancels, job.ignores, job.retries] }
  exec { command = ["work", "1"] }
}
