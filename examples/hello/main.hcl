variable "name" {
  type    = string
  default = "world"
}

job "hello" {
  exec { command = ["echo", "Hello, ${var.name}!"] }
}
