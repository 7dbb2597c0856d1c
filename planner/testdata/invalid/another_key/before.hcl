variable "key" {
  default   = "s3cret"
  sensitive = true
}
job "a" {
  exec {
    command = ["run", var.key]
  }
}
