# A release that may fail: what is tried again, what runs instead, and what runs in any case.

workflow "failure" {}

variable "release" {
  description = "The release to deploy. 2.0 does not pass its check; 2.1 does."
  type        = string
  default     = "2.0"
}

# The download fails once and succeeds when it is tried again, so nobody downstream notices.
job "download" {
  exec { command = ["./download.sh", var.release] }

  retry {
    max_attempts = 3
    backoff      = "exponential"
    min          = "200ms"
    max          = "5s"
  }
}

# One attempt only: a deployment that failed is not tried again by itself.
job "deploy" {
  predecessor { job = job.download }
  exec { command = ["./deploy.sh", var.release] }
  retry { max_attempts = 1 }
}

# The usual way on. It is skipped when deploy fails.
job "announce" {
  predecessor { job = job.deploy } # run_if = "success" is the default
  exec { command = ["echo", "release ${var.release} is live"] }
}

# The way back. It is skipped when deploy succeeds.
job "rollback" {
  predecessor {
    job    = job.deploy
    run_if = "failure"
  }

  exec { command = ["echo", "rolling back release ${var.release}"] }
}

# The maintenance page comes down, whatever happened.
job "cleanup" {
  predecessor {
    job    = job.deploy
    run_if = "always"
  }

  exec { command = ["./cleanup.sh"] }
}
