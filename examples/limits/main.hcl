# How many jobs run at once, which ones never run together, how long one may wait, and what is kept of them.

workflow "limits" {}

variable "again" {
  description = "Ask for the import of the us shop once more while it is under way."
  type        = bool
  default     = false
}

locals {
  shops = ["eu", "jp", "uk", "us"]
}

# Two imports at a time, over all workers together. Workers get even shares of them, whatever their number of slots. What
# is over and belongs to no workflow any more is kept for two days, and not more than 1,000 jobs of it.
queue "imports" {
  concurrency     = 2
  fair            = true
  retention       = "48h"
  retention_count = 1000
}

# Whoever asks for it, from whichever workflow: a shop has one import at a time. Labels are for finding jobs.
job "import" {
  for_each = toset(local.shops)
  queue    = "imports"
  unique   = "import/${each.key}"
  meta     = { shop = each.key }
  exec { command = ["./import.sh", each.key] }
}

# Fails, since the import of us has its key.
job "import_again" {
  count  = var.again ? 1 : 0
  queue  = "imports"
  unique = "import/us"
  meta   = { shop = "us" }
  exec { command = ["./import.sh", "us"] }
}

# Nobody wants this later: it expires when it could not start within ten minutes. Its output is removed an hour after
# its end.
job "notify" {
  predecessor { jobs = values(job.import) }
  retention    = "10m"
  remove_after = "1h"
  exec { command = ["echo", "all shops are up to date"] }
}
