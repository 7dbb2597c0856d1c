package planner

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// ignoredDiff is what lifecycle.ignore_changes makes of the difference between a job and its record.
type ignoredDiff struct {
	work, handling bool     // whether something differs all the same
	members        []string // what differs and is ignored, as people write it, in order
}

// ignores tells whether a job has ignore_changes, and anything to ignore. A record that has to be written for addresses that moved
// is written whole.
func (m *maker) ignores(job int32, work, handling bool) bool {
	r := &m.rows[job]
	c := r.Job.Lifecycle
	return c != nil && (c.IgnoreAll || len(c.Ignore) > 0) && (work || handling) && !r.Importing() && r.MovedFrom == (config.Addr{}) && !m.waitsForMoved(job)
}

// ignore compares what is declared with what is recorded, without what is ignored. It goes by definitions, which show nothing of
// sensitive values and of long ones only a hash; digests tell those apart (see hidden). Where a record has none, and such a value is
// left and could hide a difference, there is one.
func (m *maker) ignore(job int32, work, handling bool) ignoredDiff {
	r := &m.rows[job]
	before, after := r.Prior.document(), m.declaredDocument(job)
	told := false // which sensitive values differ
	if was, recorded := before.veil(r.Prior.Hidden); recorded {
		if is, declared := after.veil(m.hidden(r.Job, after.encode(), r.Prior.KeyID)); declared {
			before, after, told = was, is, true
		}
	}
	d := ignoredDiff{}
	restBefore, restAfter := before, after
	c := r.Job.Lifecycle
	if c.IgnoreAll {
		restBefore, restAfter = onlyTriggers(before), onlyTriggers(after)
	} else {
		for _, path := range c.Ignore {
			restBefore, restAfter = restBefore.without(path, before), restAfter.without(path, after)
		}
	}
	secret := !told && !c.IgnoreAll && (r.Job.Sensitive || r.Prior.KeyID != "")
	plain := false // work differs in what is shown
	for _, key := range slices.Sorted(maps.Keys(union(restBefore, restAfter))) {
		same := reflect.DeepEqual(restBefore[key], restAfter[key])
		plain = plain || isWork(key) && !same
		switch {
		case isWork(key) && work && (!same || secret && (hides(restBefore[key]) || hides(restAfter[key]))):
			d.work = true
		case (!isWork(key) || key == "run_at") && handling && !same:
			d.handling = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(union(before, after))) {
		if !reflect.DeepEqual(before[key], after[key]) && reflect.DeepEqual(restBefore[key], restAfter[key]) || secret && work && !d.work && isWork(key) && hides(before[key]) {
			d.members = append(d.members, key)
		}
	}
	r.Unclear = d.work && !plain
	return d
}

// declaredDocument is a job as it is declared.
func (m *maker) declaredDocument(job int32) document {
	r := &m.rows[job]
	row := Row{Addr: r.Addr, Job: r.Job, Action: Create, Definition: appendDefinition(nil, r.Job), Edges: m.targets(job)}
	return row.after()
}

func union(a, b document) map[string]bool {
	keys := make(map[string]bool, len(a)+len(b))
	for key := range a {
		keys[key] = true
	}
	for key := range b {
		keys[key] = true
	}
	return keys
}

// onlyTriggers is what ignore_changes = all leaves: what plans go by and no worker ever sees.
func onlyTriggers(d document) document {
	rest := document{}
	if v, ok := d["lifecycle"]; ok {
		rest["lifecycle"] = v
	}
	return rest
}

// without leaves a path out. whole is the document that d was before anything was left out.
func (d document) without(ignored config.IgnorePath, whole document) document {
	next := maps.Clone(d)
	switch name := ignored[0]; {
	case name == "exec" && len(ignored) > 1 && ignored[1] == "inputs":
		delete(next, "inputs")
		return next
	case name == "exec" && len(ignored) == 1:
		delete(next, "inputs")
	case name == "exec" && ignored[1] == "command":
		next["inputs"] = withoutProgram(next["inputs"], whole)
		if next["inputs"] == nil {
			delete(next, "inputs")
		}
	case name == "payload" && len(ignored) == 1, name == "payload_base64":
		delete(next, "payload")
		delete(next, "payload_base64")
		delete(next, "protobuf")
		return next
	case name == "payload" && next["protobuf"] != nil:
		next["protobuf"] = withoutField(next["protobuf"], ignored[len(ignored)-1])
	case name == "delivery" && (len(ignored) == 1 || ignored[1] == "retention"):
		delete(next, "retention")
	}
	if inner, ok := without(next[ignored[0]], ignored[1:]); ok {
		next[ignored[0]] = inner
	} else {
		delete(next, ignored[0])
	}
	return next
}

// withoutField leaves out what decides on the bytes of a field, and of all in it.
func withoutField(fields any, name string) any {
	object, ok := fields.(map[string]any)
	if !ok {
		return fields
	}
	rest := maps.Clone(object)
	maps.DeleteFunc(rest, func(key string, _ any) bool { return slices.Contains(strings.Split(key, "."), name) })
	return rest
}

// without leaves a path out of a value; ok is false where nothing is left of it.
func without(v any, steps []string) (rest any, ok bool) {
	if len(steps) == 0 || v == nil {
		return nil, false
	}
	object, isObject := v.(map[string]any)
	if !isObject {
		return v, true
	}
	next := maps.Clone(object)
	if inner, ok := without(object[steps[0]], steps[1:]); ok {
		next[steps[0]] = inner
	} else {
		delete(next, steps[0])
	}
	return next, true
}

// withoutProgram leaves the hash of the program out of the inputs: it is among them because of the command.
func withoutProgram(inputs any, whole document) any {
	object, ok := inputs.(map[string]any)
	exec, _ := whole["exec"].(map[string]any)
	command, _ := exec["command"].([]any)
	if !ok || len(command) == 0 {
		return inputs
	}
	program, _ := command[0].(string)
	dir, _ := exec["dir"].(string)
	next := maps.Clone(object)
	delete(next, path.Join(dir, program))
	if len(next) == 0 {
		return nil
	}
	return next
}

// hides tells whether a shown value may stand for several: a sensitive one does, and the hash of a long one, since that is of what is
// shown.
func hides(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, shownSensitive)
	case []any:
		return slices.ContainsFunc(v, hides)
	case map[string]any:
		if isLong(v) {
			return true
		}
		for key := range v {
			if hides(v[key]) {
				return true
			}
		}
	}
	return false
}

// isLong tells whether a shown value stands for a long one by its size and hash.
func isLong(v map[string]any) bool {
	_, hash := v["sha256"].(string)
	_, size := v["bytes"].(json.Number)
	return hash && size && len(v) == 2
}

// keepWork makes the definition of a row whose work stands say what that work was, and not what is declared by now.
func (r *Row) keepWork() {
	before, after := decodeDefinition(r.Prior.Definition), decodeDefinition(r.Definition)
	for key := range union(before, after) {
		if !isWork(key) {
			continue
		}
		if v, ok := before[key]; ok {
			after[key] = v
		} else {
			delete(after, key)
		}
	}
	r.Definition = after.encode()
}
