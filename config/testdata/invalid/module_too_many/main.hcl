module "b" { # ERROR: Too many modules | This block makes 900000 modules with 2 blocks and values each
  source = "./many"
  count  = 900000
}
module "m" {
  source = "./l1"
}
