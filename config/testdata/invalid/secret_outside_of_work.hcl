locals {
  key = secret_env("KEY") # ERROR: Secret cannot stand here | is made before any job runs
}
job "a" {
  for_each = toset([secret_env("A")]) # ERROR: Secret cannot stand here | For_each is made before any job runs
  type     = "noop"
}
job "b" {
  count    = secret_env("A") # ERROR: Secret cannot stand here | Count is made before any job runs
  type     = "noop"
}
job "c" {
  type     = "t"
  queue    = secret_env("A")                  # ERROR: Secret cannot stand here | What secret_env() stands for only the worker knows that runs the job. Queue is needed before that.
  meta     = { a = secret_env("A") }          # ERROR: Secret cannot stand here | Meta is needed
  unique   = "x-${secret_file("/run/a")}"     # ERROR: Secret cannot stand here | What secret_file() stands for
  triggers = { a = secret_env("A") }          # ERROR: Secret cannot stand here | Triggers is needed
  sync     = { a = secret_env("A") }          # ERROR: Secret cannot stand here | Sync is needed
  precondition {
    condition     = secret_env("A") != ""     # ERROR: Secret cannot stand here | Condition is needed
    error_message = "None."
  }
}
job "d" {
  type           = "t"
  payload_base64 = secret_env("A") # ERROR: Secret cannot stand here | Payload_base64 is needed
}
job "e" {
  exec {
    command = ["true"]
    dir     = secret_env("A") # ERROR: Secret cannot stand here | Give the secret to the command in env.
    inputs  = [secret_env("A")] # ERROR: Secret cannot stand here | Inputs is needed
  }
}
output "a" {
  value = secret_env("A") # ERROR: Secret cannot stand here | is made before any job runs
}
