# Any order, and every way to name a job.
output "all" {
  value = [local.late, job.many["a"].address, job.counted[1].uuid, job.counted[*].address, keys(job.many)]
}

locals {
  late    = local.later
  later   = "later-${local.latest}"
  latest  = length(job.many)
  quoted  = { for k, j in job.many : k => j.address }
}

job "many" {
  for_each = toset(concat(["b", "a"], ["b"]))
  type     = "noop"
}

job "counted" {
  count = local.latest
  type  = "noop"
}

job "optional" {
  count = 1 > 2 ? 1 : 0
  type  = "noop"
}

job "after" {
  for_each = local.quoted
  type     = "noop"
  queue    = each.value == "job.many[\"a\"]" ? "first" : "second"
  predecessor { job = job.many[each.key] }
  predecessor { jobs = [job.many, job.counted[0], job.many["a"], job.many["a"]] }
  predecessor { jobs = { for k, j in job.many : k => j if k != each.key } }
  predecessor { jobs = toset(values(job.many)) }
  predecessor { job = job.many["${each.key}"] }
}

job "neighbour" {
  count = 2
  type  = "noop"
  parent { job = job.counted[count.index] }
}
