#! var token=s3cret-word
workflow "modules" {}

variable "token" {
  type      = string
  sensitive = true
}

locals {
  regions = { eu = { rows = 2 }, us = { rows = 3, name = "america" } }
  shops   = module.shop.names
}

job "start" {
  type = "noop"
}

module "load" {
  source   = "./load"
  for_each = local.regions

  after  = job.start
  region = each.key
  size   = each.value.rows
  name   = try(each.value.name, null)
  token  = var.token
}

module "shop" {
  source = "./shop"
  day    = "2026-11-20"
  # An output of the module feeds another input of it.
  first = module.shop.day
  loads = [for m in module.load : m.last]
}

module "copy" {
  source = "./load"
  count  = length(local.shops)
  region = "copy-${count.index}"
  after  = module.load["eu"].last
  token  = "plain"
}

job "end" {
  type    = "t"
  payload = { where = path.module, last = module.load["us"].last.address, regions = module.copy[*].region, days = values(module.load)[*].days }
  predecessor {
    jobs = [module.shop, module.load["eu"], job.start]
  }
  predecessor {
    job    = module.copy[0].last
    run_if = "always"
  }
  predecessor {
    jobs   = module.load
    run_if = "always"
  }
}

output "uuids" {
  value = { for k, m in module.load : k => m.last.uuid }
}

output "secret" {
  value     = module.load["eu"].secret
  sensitive = true
}

output "deep" {
  value = module.shop.deep
}
