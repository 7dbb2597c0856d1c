job "a" {
  type  = noop # ERROR: Invalid reference | write it in quotes: "noop"
}
variable "day" { default = 1 }
locals { region = "eu" }
output "a" { value = day }        # ERROR: Invalid reference | Did you mean var.day?
output "b" { value = region }     # ERROR: Invalid reference | Did you mean local.region?
output "c" { value = a.uuid }     # ERROR: Invalid reference | Did you mean job.a?
output "d" { value = vra.day }    # ERROR: Invalid reference | Did you mean "var"?
output "e" { value = a }          # ERROR: Invalid reference | Did you mean job.a?
output "f" { value = self.key }   # ERROR: Invalid reference | known by each.key
output "g" { value = module.m.x } # ERROR: Reference to undeclared module | No module "m" is declared. Declare it: module "m"
output "h" { value = terraform.workspace } # ERROR: Invalid reference | its workspace is workflow.workspace
