workflow "orders" {}

variable "token" {
  default   = "second"
  sensitive = true
}

variable "kept" {
  default   = "stays"
  sensitive = true
}

job "call" {
  http {
    url     = "https://example.com/"
    headers = { Authorization = "Bearer ${var.token}" }
  }
}

# one of two secrets changes, and one of a list
job "run" {
  exec {
    command = ["deploy", var.kept, var.token]
    env     = { KEEP = var.kept, TOKEN = var.token, PLAIN = "y" }
  }
}

# a secret within a value that is shown as its size and hash
job "send" {
  type    = "shop.v1.Send"
  payload = { text = join("", [for i in range(1000) : "long text"]), token = var.token }
}

job "raw" {
  type           = "shop.v1.Raw"
  payload_base64 = base64encode(var.token)
}

output "token" {
  value     = var.token
  sensitive = true
}
