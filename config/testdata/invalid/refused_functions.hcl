job "a" {
  type    = "shop.Load"
  payload = { now = timestamp() } # ERROR: Function not available | run_at { after = "10m" }
}
output "b" { value = uuid() }          # ERROR: Function not available | run_at { after = "10m" }
output "c" { value = bcrypt("x") }     # ERROR: Function not available | run_at { after = "10m" }
output "d" { value = abspath(".") }    # ERROR: Function not available | differ between machines
output "e" { value = pathexpand("~") } # ERROR: Function not available | differ between users
output "f" { value = plantimestamp() } # ERROR: Function not available
