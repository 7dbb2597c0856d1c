variable "token" {
  type      = string
  default   = "s3cret"
  sensitive = true
}
job "up" { type = "noop" }
job "a" {
  type = "t"
  payload = {
    empty     = secret_env("")                      # ERROR: Invalid name of a secret | "" cannot be a secret: a variable of the worker's environment
    spaced    = secret_env("A B")                   # ERROR: Invalid name of a secret | letters, digits and underscores
    number    = secret_env("1A")                    # ERROR: Invalid name of a secret | letters, digits and underscores
    file      = secret_env("/run/secrets/a")        # ERROR: Invalid name of a secret | A file is secret_file
    own       = secret_env("WAYBILL_KEY")           # ERROR: Invalid name of a secret | the worker's own, its keys among them
    null      = secret_env(null)                    # ERROR: Invalid name of a secret | needs the name of a secret as a string, and this is null
    list      = secret_env(["A"])                   # ERROR: Invalid name of a secret | and this is a list
    relative  = secret_file("run/secrets/a")        # ERROR: Invalid name of a secret | absolute path
    dots      = secret_file("/run/../etc/shadow")   # ERROR: Invalid name of a secret | without . and ..
    root      = secret_file("/")                    # ERROR: Invalid name of a secret | absolute path
    quoted    = secret_file("/run/\"a\"")           # ERROR: Invalid name of a secret | no control characters, quotes
    sensitive = secret_env(var.token)               # ERROR: Sensitive value not allowed | The name of a secret is shown in plans
    uuid      = secret_env("A_${job.up.uuid}")      # ERROR: Invalid name of a secret | made from what is known later
    result    = secret_env(job.up.result.name)      # ERROR: Result cannot stand here | The name of a secret is needed when the job is planned
    secret    = secret_env(secret_env("A"))         # ERROR: Secret cannot stand here | The name of a secret is needed
    none      = secret_env()                        # ERROR: Not enough function arguments
    two       = secret_env("A", "B")                # ERROR: Too many function arguments
  }
}
