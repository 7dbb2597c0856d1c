job "a" {
  type = "noop"
}
output "o" {
  value     = "s3cret"
  sensitive = true
}
