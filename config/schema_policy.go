package config

import (
	"fmt"
	"sync"
)

// policySchema is the grammar of policies, made on first use.
var policySchema = sync.OnceValue(func() *kind {
	return &kind{place: "the top level of a policy",
		text: "Rules over plans, in a file outside of the workflow's directory: `-policy=FILE`, as often as needed, and the files that the variable `WAYBILL_POLICY` names " +
			"hold besides. A denied plan is shown with the reasons, and nothing of it is submitted.",
		args: []arg{
			{name: "required_labels", is: formTexts, text: "Names that the `meta` of each job needs that a plan submits or changes, with a text that is not empty. Jobs that stay as they are are not looked at."},
		},
		blocks: []*kind{
			ruleKind("deny", "A plan that this holds for is not applied. `plan` shows it, fails, and saves nothing."),
			ruleKind("warn", "A plan that this holds for is applied with a warning."),
			{name: "locals", many: true, any: true,
				text: "Values with names: `NAME = VALUE` is `local.NAME` elsewhere in the file."},
		},
	}
})

func ruleKind(name, text string) *kind {
	return &kind{name: name, label: "name", many: true, text: text,
		args: []arg{
			{name: "condition", is: formBool, required: true, text: fmt.Sprintf("Where it is **true** the rule holds. It says what must not be, other than the `condition` of a check: the block reads as \"%s if\".", name)},
			{name: "error_message", is: formText, required: true, text: "What people read then. Say what to do instead."},
			{name: "for_each", is: formAny, text: "A list, set, map or object. The rule is asked for each element, `each.value`, and the message names the addresses of those that it holds for. `each.key` is the key, or the index in a list."},
		},
	}
}

// policyAstray says where rules belong that stand in a workflow.
const policyAstray = "Rules over plans are a file of their own, outside of the workflow's directory: give it with -policy=FILE."

// policyNames says what the expressions of policies may refer to.
func policyNames(name string) string {
	const known = "Policies know plan, local and, in a rule with for_each, each."
	if near := didYouMeanOf(name, "plan", "local", "each"); near != "" {
		return known + near
	}
	return known
}
