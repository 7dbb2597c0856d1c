# What no plan of this repository may do, whoever has approved of it: ci/plan.sh and ci/apply.sh hold every plan against it.

locals {
  submitted = [for c in plan.changes : c if c.declared]
}

deny "few_at_once" {
  condition     = plan.mode == "normal" && plan.summary.destroy > 10
  error_message = "This would end ${plan.summary.destroy} jobs. Take more than ten away in steps."
}

deny "no_shell" {
  for_each      = local.submitted
  condition     = can(each.value.after.exec.shell)
  error_message = "Write the command as a list: a shell takes apart what variables hold."
}
