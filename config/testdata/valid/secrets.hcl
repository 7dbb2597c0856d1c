# Secrets of the worker: where they may stand, and in which form.
variable "region" {
  type    = string
  default = "EU"
}

variable "token" {
  type      = string
  default   = "s3cret"
  sensitive = true
}

job "extract" { type = "t" }

job "command" {
  for_each = toset(["EU", "US"])
  exec {
    command = ["load", "--key=${secret_env("KEY_${each.key}")}", secret_file("/run/secrets/${lower(each.key)}.key")]
    env     = { PGPASSWORD = secret_env("DB_${var.region}"), HTTPS_PROXY = secret_env("PROXY"), TOKEN = var.token }
    stdin   = jsonencode({ password = secret_env("DB_${var.region}"), rows = job.extract.result.rows })
  }
}

job "request" {
  http {
    method  = "POST"
    url     = "https://example.com/${secret_env("TENANT")}/x?key=${secret_env("KEY")}"
    headers = { Authorization = "Bearer ${secret_file("/run/secrets/token")}" }
    body    = "{\"key\": \"${secret_env("KEY")}\"}"
  }
}

job "hook" {
  http { url = secret_env("WEBHOOK_URL") }
}

job "typed" {
  type = "t"
  payload = {
    whole = secret_env("A")
    text  = "postgres://app:${secret_env("B")}@db/shop"
    list  = concat([secret_env("A")], ["x"])
    maybe = var.region == "EU" ? secret_env("A") : null
    each  = [for name in ["C", "D"] : secret_env(name)]
    plain = "@{uuid:x"
  }
}

job "nightly" {
  type    = "t"
  payload = { key = secret_env("A") }
  run_at { cron = "0 2 * * *" }
}
