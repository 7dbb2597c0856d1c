job "a" {
  type = "noop"
}
output "o" {
  value = { x = parseint("1", 10) / 0 } # ERROR: Wrong type of value | Output "o" cannot be used: 
}
