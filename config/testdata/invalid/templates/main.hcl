output "a" { value = templatefile("a.tmpl", {}) } # ERROR: Invalid function argument | uses "day" in line 2
output "b" { value = templatefile("b.tmpl", {}) } # ERROR: Invalid function argument | b.tmpl, line 1
output "c" { value = templatefile("a.tmpl", []) } # ERROR: Invalid function argument | an object with the values
output "d" { value = templatefile("c.tmpl", {}) } # ERROR: Error in function call | c.tmpl, line 1
output "e" { value = templatefile("deep.tmpl", {}) } # ERROR: Invalid function argument | deep.tmpl, line 1
output "f" { value = templatefile("missing.tmpl", {}) } # ERROR: Invalid function argument | does not exist
