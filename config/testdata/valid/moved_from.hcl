locals { former = "shop" }
workflow "orders" {
  moved_from = "${local.former}-orders"
}
job "a" { type = "noop" }
