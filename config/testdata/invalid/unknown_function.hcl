output "a" { value = lenght([]) } # ERROR: Call to unknown function | Did you mean "length"?
