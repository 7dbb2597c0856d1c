# What stands in an element is looked at without a plan, also behind a condition that decides which elements there are.
locals {
  gone = [for c in plan.changes : c if c.action == "delete"]
  odd  = [for c in plan.changes : c.adress if c.destroys] # ERROR: Unsupported attribute | "adress"
}
deny "a" {
  for_each      = local.gone
  condition     = each.value.adress == "x" # ERROR: Unsupported attribute | "adress"
  error_message = "No."
}
deny "b" {
  for_each      = [for j in plan.jobs : j if j.queue == "etl"]
  condition     = each.value.before == null # ERROR: Unsupported attribute | "before"
  error_message = "No."
}
deny "c" {
  for_each      = plan.changes
  condition     = each.value.labels == "x" || each.value.timeout == "5m" # ERROR: Unsupported attribute | "timeout"
  error_message = "No."
}
