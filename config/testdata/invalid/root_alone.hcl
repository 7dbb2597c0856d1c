output "a" { value = keys(local) } # ERROR: Invalid reference | write local.NAME
output "b" { value = var["day"] }  # ERROR: Invalid reference | write var.NAME
