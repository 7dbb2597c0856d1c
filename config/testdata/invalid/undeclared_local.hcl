locals { regions = ["eu"] }

output "a" { value = local.region } # ERROR: Reference to undeclared local | Did you mean "regions"?
output "b" { value = local.day }    # ERROR: Reference to undeclared local | locals { day = VALUE }
