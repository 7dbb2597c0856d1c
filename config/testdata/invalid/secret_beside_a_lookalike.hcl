variable "note" {
  type    = string
  default = "@{result:IWVudjpB::t}"
}
job "a" { # ERROR: Secret cannot stand here | no other text may look like one
  type    = "t"
  payload = { key = secret_env("A"), note = var.note }
}
job "b" {
  type    = "t"
  payload = { note = var.note }
}
