variable "day" {
  type = string
}
variable "first" {}
variable "loads" {
  type = list(object({ address = string, uuid = string }))
}

output "day" {
  value = "${var.day}T00:00:00Z"
}
output "names" {
  value = module.sync[*].name
}
output "deep" {
  value = module.sync[1].job.address
}

module "sync" {
  source = "./sync"
  count  = 2
  name   = "shop-${count.index}-${var.first}"
}

job "report" {
  for_each = toset(["a", "b"])
  type     = "noop"
  predecessor { jobs = var.loads }
  predecessor { jobs = module.sync }
}
