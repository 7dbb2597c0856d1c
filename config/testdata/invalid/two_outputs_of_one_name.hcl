output "day" { value = 1 }
output "day" { value = 2 } # ERROR: Duplicate name | There is already an output named "day"
