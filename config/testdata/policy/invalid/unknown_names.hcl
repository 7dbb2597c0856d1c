deny "a" {
  condition     = plan.sumary.add > 1 # ERROR: Invalid reference | Did you mean "summary"?
  error_message = var.text            # ERROR: Invalid reference | A policy knows no var. Policies know plan, local and
}
deny "b" {
  condition     = plan.summary.added > 1 # ERROR: Unsupported attribute | "added"
  error_message = "No."
}
deny "c" {
  condition     = each.value == 1 # ERROR: Invalid reference | each is only known in a rule with for_each
  error_message = plen.x          # ERROR: Invalid reference | Did you mean "plan"?
}
deny "d" {
  condition     = plan == 1  # ERROR: Invalid reference | write plan.NAME
  error_message = local.nope # ERROR: Reference to undeclared local | Declare it
}
deny "e" {
  for_each      = [for x in each.value : x] # ERROR: Invalid reference | not in its for_each
  condition     = each.valu == 1            # ERROR: Invalid reference | which has key and value
  error_message = "No."
}
