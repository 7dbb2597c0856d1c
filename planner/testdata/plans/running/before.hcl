workflow "orders" {}

job "finishes" {
  exec { command = ["work", "1"] }
}

job "cancels" {
  exec { command = ["work", "1"] }
  lifecycle { on_change = "cancel" }
}

job "ignores" {
  exec { command = ["work", "1"] }
  lifecycle { on_change = "ignore" }
}

job "retries" {
  exec { command = ["work", "1"] }
}

job "goes" {
  exec { command = ["work", "1"] }
}

job "comes_back" {
  exec { command = ["work", "1"] }
}

job "stops" {
  exec { command = ["work", "1"] }
}

job "stopped" {
  exec { command = ["work", "1"] }
}

job "after" {
  predecessor { jobs = [job.finishes, job.cancels, job.ignores, job.retries] }
  exec { command = ["work", "1"] }
}
