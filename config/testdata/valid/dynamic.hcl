#! var secret=s3cret

variable "secret" {
  type      = string
  sensitive = true
}

variable "ssl" {
  default = true
}

locals {
  upstreams = {
    load  = { run_if = "failure" }
    clean = { run_if = "always" }
  }
  stages = ["extract", "clean"]
}

job "extract" {
  type = "noop"
}

job "clean" {
  for_each = toset(["eu", "us"])
  type     = "noop"

  # One block for a list's element, the job of the same key.
  dynamic "parent" {
    for_each = [job.extract]
    content {
      job              = parent.value
      on_child_failure = "ignore"
    }
  }
}

job "load" {
  count = 2
  type  = "noop"

  dynamic "predecessor" {
    for_each = toset(["eu", "us"])
    iterator = region
    content {
      job    = job.clean[region.key]
      run_if = region.value == "eu" ? "success" : "always"
    }
  }

  dynamic "retry" {
    for_each = count.index == 1 ? [9] : []
    content {
      max_attempts = retry.value
    }
  }
}

job "report" {
  dynamic "exec" {
    for_each = var.ssl ? { key = var.secret } : {}
    content {
      command = ["report", exec.key, "--key", exec.value]
    }
  }

  dynamic "predecessor" {
    for_each = local.upstreams
    content {
      jobs   = predecessor.key == "load" ? [for j in job.load : j] : values(job.clean)
      run_if = predecessor.value.run_if
    }
  }

  # None at all.
  dynamic "run_at" {
    for_each = []
    content {
      after = "1h"
    }
  }

  dynamic "delivery" {
    for_each = [1]
    content {
      retention = "${delivery.value}0m"
    }
  }

  dynamic "precondition" {
    for_each = local.stages
    content {
      condition     = length(precondition.value) > 2 && precondition.key < 2
      error_message = "${precondition.value} is too short."
    }
  }
}

job "later" {
  for_each = { a = ["x", "y"], b = [] }

  dynamic "gate" {
    for_each = length(each.value) > 0 ? [each.value] : []
    content {
      waiting = gate.value
    }
  }
  dynamic "sleep" {
    for_each = [each.key]
    content {
      duration = "${length("${sleep.value}${each.key}")}s"
    }
  }
}

job "flip" {
  type          = "noop"
  triggers_gate = ["x"]
}

job "flop" {
  type          = "noop"
  triggers_gate = ["y"]
}
