output "a" { value = 1e9999 * 1e9999 }
output "b" { value = "x" + 1 } # ERROR: Invalid operand
