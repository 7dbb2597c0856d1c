module "b" { # ERROR: Too many modules | With this block the modules of the workflow hold more than 2000000 blocks
  source = "./many"
  count  = 900000
}
module "m" {
  source = "./l1"
}
