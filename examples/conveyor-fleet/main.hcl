workflow "orders" {
  namespace = "orders"

  proto {
    files        = ["protos/orders/v1/orders.proto"]
    import_paths = ["protos"]
  }
}

variable "remind_at" {
  type        = string
  default     = "2026-12-01T08:00:00Z"
  description = "When a customer who has not paid is asked to."
}

# In a fleet of the conveyor library a queue has the name of its messages.
job "order" {
  type  = "orders.v1.Order"
  queue = "orders.v1.Order"
  payload = {
    number = "A-1001"
    lines  = [{ sku = "lamp", pieces = 2 }, { sku = "bulb", pieces = 4 }]
  }
}

job "invoice" {
  type  = "orders.v1.Invoice"
  queue = "orders.v1.Invoice"
  payload = {
    order    = "A-1001"
    cents    = 15900
    currency = "EUR"
  }

  parent { job = job.order }
}

job "reminder" {
  type    = "orders.v1.Reminder"
  queue   = "orders.v1.Reminder"
  payload = { order = "A-1001" }

  run_at { time = var.remind_at }
}
