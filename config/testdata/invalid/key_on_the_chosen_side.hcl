job "a" {
  count = 1
  type  = "noop"
}
output "o" {
  value = true ? job.a[3].uuid : "" # ERROR: Invalid index
}
