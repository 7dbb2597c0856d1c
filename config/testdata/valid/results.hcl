# What jobs read of each other's results, and the edges that follow from it.
variable "token" {
  type      = string
  default   = "s3cret"
  sensitive = true
}

locals {
  source = job.extract["eu"]
  other  = { result = { rows = 5 } }
}

job "extract" {
  for_each = toset(["eu", "us"])
  type     = "t"
}

job "one" { type = "t" }

job "typed" {
  type = "t"
  payload = {
    whole     = job.one.result
    rows      = job.one.result.rows
    wrapped   = "${job.one.result.rows}"
    text      = "rows: ${job.one.result.rows}, first ${job.one.result.list[0].id}"
    odd       = job.one.result["a b"]
    as_text   = tostring(job.one.result.rows)
    every     = [for j in job.extract : j.result.rows]
    splat     = values(job.extract)[*].result.list[1]
    by_key    = { for k, j in job.extract : k => j.result.rows }
    local     = local.source.result.rows
    unrelated = local.other.result.rows
    merged    = merge({ a = job.one.result.a }, { b = 1 })
    chosen    = var.token == "" ? job.one.result.a : job.one.result.b
    text_json = jsonencode({ n = job.one.result.n, t = "x ${job.one.result.t}", inner = jsonencode([job.one.result.n]), s = tostring(job.one.result.n) })
    key       = job.one.result.list[length("ab")].id
  }
}

job "command" {
  for_each = job.extract
  exec {
    command = ["sh", "-c", "echo \"$1\" $ROWS", "sh", each.value.result.name, "--n=${each.value.result.n}"]
    env     = { ROWS = each.value.result.rows, KEY = var.token }
    stdin   = jsonencode({ rows = each.value.result.rows })
  }
}

job "request" {
  http {
    method  = "POST"
    url     = "https://example.com/${job.one.result.path}/x?q=${job.one.result.q}&r=${job.extract["us"].result.r}"
    headers = { X-Rows = job.one.result.rows, Authorization = "Bearer ${var.token}" }
    body    = "{\"by \\\"hand\": \"n: ${job.one.result.rows}\", \"n\": [${job.one.result.rows}]}"
  }
}

# Edges that are there already: as a child, as an heir of any outcome, below a parent's parent.
job "child" {
  type    = "t"
  payload = { n = job.one.result.n }
  parent { job = job.one }
}

job "grandchild" {
  type    = "t"
  payload = { n = job.one.result.n, m = job.typed.result.m }
  parent { job = job.child }
}

job "anyway" {
  type    = "t"
  payload = { n = job.one.result.n }
  predecessor {
    jobs   = [job.one, job.typed]
    run_if = "always"
  }
}

job "by_element" {
  dynamic "exec" {
    for_each = [job.one]
    content { command = ["echo", exec.value.result.rows] }
  }
}

# Text that only looks like a result, and jobs and values of that name.
job "result" {
  type    = "t"
  payload = { text = "@{result:am9iLm9uZQ:W10:v}", n = job.one.result.n }
  predecessor { job = job.one }
}

job "after_result" {
  type    = "t"
  payload = { n = job.result.result.result }
  predecessor { job = job.result }
}
