job "a" {
  count = 600000
  type  = "noop"
}
job "b" {
  count = 600000 # ERROR: Too many jobs | at most 1000000 are supported
  type  = "noop"
}
output "o" { value = nonsense() } # ERROR: Call to unknown function
