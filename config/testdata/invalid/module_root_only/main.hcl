#! version 0.4.2
module "m" {
  source = "./m"
}
