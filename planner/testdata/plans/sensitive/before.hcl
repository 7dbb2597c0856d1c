workflow "orders" {}

variable "token" {
  default   = "first"
  sensitive = true
}

job "call" {
  http {
    url     = "https://example.com/"
    headers = { Authorization = "Bearer ${var.token}" }
  }
}

output "token" {
  value     = var.token
  sensitive = true
}
