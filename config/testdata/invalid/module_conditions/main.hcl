module "m" {
  source   = "./m"
  for_each = { a = 1, b = 12, c = 13 }
  size     = each.value
}
module "n" {
  source = "./m"
  size   = 14
}
