package planner

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/waybill-dev/waybill/config"
)

// queueChanges compares the declared queues with what Redis holds of the queues this workflow declared, by name.
func queueChanges(w *config.Workflow, s *State) []QueueChange {
	var changes []QueueChange
	declared := make(map[string]bool, len(w.Queues))
	for _, q := range w.Queues {
		declared[q.Name] = true
		next := declaredSettings(q)
		prior, ok := s.Queues[q.Name]
		switch {
		case !ok:
			changes = append(changes, QueueChange{Name: q.Name, Next: &next})
		case prior != next:
			changes = append(changes, QueueChange{Name: q.Name, Prior: &prior, Next: &next})
		}
	}
	for name, prior := range s.Queues {
		if !declared[name] {
			changes = append(changes, QueueChange{Name: name, Prior: &prior})
		}
	}
	slices.SortFunc(changes, func(a, b QueueChange) int { return strings.Compare(a.Name, b.Name) })
	return changes
}

func declaredSettings(q *config.Queue) QueueSettings {
	return QueueSettings{Concurrency: q.Concurrency, Weight: max(1, q.Weight), Paused: q.Paused,
		Fair: q.Fair, KeepFor: q.KeepFor, KeepCount: q.KeepCount}
}

// sharedQueues warns of queues that another workflow of the namespace declares otherwise: a queue has one set of settings, so
// each apply of either takes back what the other set.
func sharedQueues(w *config.Workflow, s *State) (diags hcl.Diagnostics) {
	for _, q := range w.Queues {
		shared, ok := s.Shared[q.Name]
		if !ok || shared.Settings == declaredSettings(q) {
			continue
		}
		who := "Workflow " + quoted(shared.DeclaredBy[0]) + " of this namespace declares"
		if len(shared.DeclaredBy) > 1 {
			who = "The workflows " + strings.Join(shared.DeclaredBy, ", ") + " of this namespace declare"
		}
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Queue is declared by another workflow", Subject: q.Range.Ptr(),
			Detail: who + " queue " + quoted(q.Name) + " too, and the settings that are stored are not those declared here. A queue has one " +
				"set of settings, the last applied, so each apply takes back what the other set. Declare the queue in one workflow " +
				"only, or alike in both.",
		})
	}
	return diags
}

// sensitiveOutput starts what stands for a sensitive output in state and plans, in place of its value: a JSON string with
// a keyed hash, by which a change is seen.
const sensitiveOutput = `"(sensitive value) `

// outputChanges compares the declared outputs with the stored ones, by name. Uuids of jobs that stay as they are are
// filled in; others stay placeholders, which are known after apply.
func (m *maker) outputChanges(w *config.Workflow) (changes []OutputChange, diags hcl.Diagnostics) {
	declared := make(map[string]bool, len(w.Outputs))
	for _, o := range w.Outputs {
		declared[o.Name] = true
		next, known, diag := m.output(o)
		if diag != nil {
			diags = append(diags, diag)
			continue
		}
		if !known {
			continue // it stays as it is until a plan submits the job that it names
		}
		if prior := m.s.Outputs[o.Name]; prior != next {
			changes = append(changes, OutputChange{Name: o.Name, Prior: prior, Next: next, Sensitive: o.Sensitive})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.s.Outputs)) {
		if !declared[name] {
			prior := m.s.Outputs[name]
			changes = append(changes, OutputChange{Name: name, Prior: prior, Sensitive: strings.HasPrefix(prior, sensitiveOutput)})
		}
	}
	slices.SortStableFunc(changes, func(a, b OutputChange) int { return strings.Compare(a.Name, b.Name) })
	return changes, diags
}

// output is an output as it will be stored. known is false for one that names a job which has no submission, since the plan
// leaves it out.
func (m *maker) output(o *config.Output) (text string, known bool, diag *hcl.Diagnostic) {
	value, _ := o.Value.UnmarkDeep()
	raw, err := ctyjson.SimpleJSONValue{Value: value}.MarshalJSON()
	if err != nil {
		return "", false, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Output cannot be stored", Subject: o.Range.Ptr(),
			Detail: "The value of output " + o.Name + " has no JSON form: " + err.Error() + ".",
		}
	}
	filled, known := m.fill(raw)
	if !o.Sensitive || !known {
		return filled, known, nil
	}
	if m.o.Digest == nil {
		return "", false, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "No key for sensitive values", Subject: o.Range.Ptr(),
			Detail: "Output " + o.Name + " is sensitive: its hash is stored under a key, and there is no key. Set WAYBILL_KEY, or run " +
				"`waybill init` to make one.",
		}
	}
	under := func(keyID string) string {
		digest, _ := m.under(keyID)(true, []byte("output\x00"+o.Name+"\x00"+filled))
		return sensitiveOutput + hex.EncodeToString(digest[:]) + `"`
	}
	for _, keyID := range m.o.Older {
		if old := under(keyID); old == m.s.Outputs[o.Name] && !m.o.Rekey {
			return old, true, nil
		}
	}
	return under(m.o.KeyID), true, nil
}

// fill replaces the placeholders of jobs whose uuid this plan does not change. known tells whether it gives all others one.
func (m *maker) fill(raw []byte) (filled string, known bool) {
	known = true
	filled = string(config.FillPlaceholders(raw, func(addr string) string {
		a, err := config.ParseAddr(addr)
		if err != nil {
			return ""
		}
		job, ok := m.g.index[a]
		switch {
		case !ok:
		case m.rows[job].keepsUUID():
			return m.rows[job].Prior.UUID.String()
		case m.rows[job].Action == NoOp:
			known = false
		}
		return ""
	}))
	return filled, known
}
