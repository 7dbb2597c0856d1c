# One day's sales of five regions, from the tills' exports to a report in Markdown.
#
#     go run . apply -auto-approve examples/sales

workflow "sales" {}

variable "day" {
  description = "The day to report on. The exports hold 2026-11-16 to 2026-11-20."
  type        = string
  default     = "2026-11-20"
}

locals {
  # Region => file. A new export in data/ becomes a region with the next apply.
  exports = { for file in fileset("data", "*.csv") : trimsuffix(file, ".csv") => "data/${file}" }
}

queue "sales" {
  concurrency = 4 # at most so many of the workflow's jobs at once, on all workers together
}

# Reads one export into the form that the other jobs share. It does not know the day, and so runs again only when the
# file changes, or the script.
job "ingest" {
  for_each = local.exports
  timeout  = "1m"

  exec {
    command = ["./ingest.sh", each.key, each.value]
    inputs  = [each.value]
  }

  retry {
    max_attempts = 2
    min          = "1s"
  }
}

# A child of its region's ingest: it starts when that has done its own work, and ingest is complete only after it.
job "clean" {
  for_each = job.ingest
  timeout  = "1m"

  parent { job = each.value }

  exec {
    command = ["./clean.sh", each.key, var.day]
  }
}

# An heir of every ingest: a predecessor counts as complete with all its children, so this waits for every clean too.
job "join" {
  predecessor { jobs = values(job.ingest) }

  exec {
    command = concat(["./join.sh", var.day], keys(local.exports))
    inputs  = ["products.csv", "rates.csv"]
  }
}

job "report" {
  predecessor { job = job.join }

  exec {
    command = concat(["./report.sh", var.day], keys(local.exports))
  }
}

output "day" {
  value = var.day
}

output "report" {
  description = "Where the report is, seen from this folder."
  value       = "out/report.md"
}
