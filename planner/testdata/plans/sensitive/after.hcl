workflow "orders" {}

variable "token" {
  default   = "second"
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
