# ERROR@main.hcl.json:1: Root value must be object
# ERROR@main.hcl.json:1: Unclosed object
# ERROR@main.hcl.json:1: Unclosed object
# ERROR@main.hcl.json:2: Missing value
output "o" { value = job.a.uuid }
