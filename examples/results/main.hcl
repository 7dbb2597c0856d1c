# Counting texts: jobs leave results, and others read them.

workflow "results" {}

variable "column" {
  type        = string
  default     = "lines"
  description = "What the report is about: lines or words."
}

# Each leaves {"lines": ..., "words": ...} as its result.
job "count" {
  for_each = fileset("data", "*.txt")
  exec { command = ["./count.sh", each.key] }
}

# Nothing says that the report waits for the counts: it reads their results, so it does. They are its arguments, and all of them
# together its input, as JSON.
job "report" {
  exec {
    command = concat(["./report.sh", var.column], [for text, j in job.count : "${text}: ${j.result[var.column]}"])
    stdin   = jsonencode({ for text, j in job.count : text => j.result })
  }
}
