package conveyor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// templateSeen is what the store has of a template beside its entry, or still has of one that is gone.
type templateSeen struct {
	fields  map[string]string // template:<uuid>
	gate    map[string]string // template:<uuid>:gate
	bytes   string            // of its job, once it is looked at
	keys    map[string]bool   // other keys of it, without the namespace: its history, its backlog
	junk    []string          // lines of its history that nobody can read
	waiting int64             // ticks in its backlog
	pending []string          // its live cycles whose members are to be cancelled still
}

func (v *view) template() *templateSeen {
	if v.t == nil {
		v.t = &templateSeen{keys: map[string]bool{}}
	}
	return v.t
}

// templateNumbers are the fields of a template's hash that count; each may be empty.
var templateNumbers = []string{"since", "next", "used", "last"}

// declaredFields are the fields of a template's hash that its bytes decide; nil when these cannot be read.
func declaredFields(bytes string) map[string]string {
	job := &wire.Job{}
	if bytes == "" || proto.Unmarshal([]byte(bytes), job) != nil || !isTemplate(job) {
		return nil
	}
	sub, err := newSubmission(job, addOptions{})
	if err != nil {
		return nil
	}
	head, rest, _ := strings.Cut(sub.settings, "|")
	most, when, _ := strings.Cut(rest, "|")
	if len(head) != 4 {
		return nil
	}
	off := ""
	if head[3] == '1' {
		off = "1"
	}
	return map[string]string{"kind": head[:1], "catchup": head[1:2], "overlap": head[2:3], "off": off, "max": most, "when": when,
		"entry": sub.entry, "edges": sub.edges}
}

// emitsWanted are the sorted sets that list a template under its upstreams, without the namespace.
func emitsWanted(edges string) map[string]bool {
	out := map[string]bool{}
	for text := range strings.SplitSeq(edges, ",") {
		if e, ok := parseStoredEdge(text, ""); ok {
			class := ":heirs"
			if e.parent() {
				class = ":children"
			}
			out["emits:"+e.upstream+class] = true
		}
	}
	return out
}

// ticking tells whether a template belongs into `ticks`.
func (t *templateSeen) ticking() bool {
	most, used := integer(t.fields["max"]), integer(t.fields["used"])
	return t.fields["kind"] == "s" && t.fields["off"] == "" && t.fields["hand"] != "1" && (most == 0 || used < most)
}

// templates checks what follows from a job being a template, or not.
func (j *judgement) templates() {
	if j.status.State == StateTemplate {
		j.template()
		return
	}
	j.untemplated("a job that is " + j.status.State.String())
}

// untemplated wants nothing of a template to be there.
func (j *judgement) untemplated(of string) {
	for name := range j.listed {
		if name == "ticks" || strings.HasPrefix(name, "emits:") || strings.HasPrefix(name, "gate:") {
			j.unref("I2", j.keys.key(name), "zset", "names "+of)
		}
	}
	if j.view.t == nil || j.status.State == StateClosing {
		return // a template that is ending takes them away itself
	}
	names := slices.Collect(maps.Keys(j.view.t.keys))
	if j.view.t.fields != nil {
		names = append(names, "template:"+j.uuid)
	}
	if j.view.t.gate != nil {
		names = append(names, "template:"+j.uuid+":gate")
	}
	for _, name := range names {
		j.say("I13", j.keys.key(name), "of a template that is "+of, "remove "+name, newFix("untemplate", name))
	}
}

// template checks that a template's settings are those it was declared with, and that the indexes follow from them.
func (j *judgement) template() {
	if !j.bytes {
		j.bytesGone(j.keys.job(j.uuid), "a template without bytes")
		return
	}
	t, key := j.view.template(), j.keys.template(j.uuid)
	if t.bytes != "" && j.settings(t, key) {
		return // the indexes follow when that is repaired
	}
	score, in := j.listed["ticks"]
	switch next := t.fields["next"]; {
	case in && !t.ticking():
		j.say("I2", j.keys.key("ticks"), "names a template that does not tick", fmt.Sprintf("take %s out of ticks", j.uuid), newFix("ticks"))
	case !in && t.ticking():
		j.say("I11", j.keys.key("ticks"), "does not name a template that ticks: it would never emit", fmt.Sprintf("list %s in ticks", j.uuid), newFix("ticks"))
	case in && next != "" && integer(next) != score:
		j.say("I11", j.keys.key("ticks"), fmt.Sprintf("lists a template for %d, it ticks at %s", score, next), fmt.Sprintf("list %s in ticks by its next tick", j.uuid), newFix("ticks"))
	}
	want := emitsWanted(t.fields["edges"])
	for name := range want {
		if at, in := j.listed[name]; !in || at != j.status.Place {
			j.say("I11", j.keys.key(name), "does not list a template in its order: it would not be emitted", fmt.Sprintf("list %s in %s", j.uuid, name), newFix("emits", name))
		}
	}
	for name := range j.listed {
		if strings.HasPrefix(name, "emits:") && !want[name] {
			j.unref("I2", j.keys.key(name), "zset", "names a template that does not wait there")
		}
	}
	j.gate(t)
	for _, line := range t.junk {
		j.say("I2", j.keys.history(j.uuid), "a line cannot be read: "+excerpt(line), "set it aside", newFix("aside", "history:"+j.uuid, "list", line))
	}
	if j.todo {
		return
	}
	if t.waiting > 0 && !j.all.cycling[j.uuid] {
		j.say("I11", j.keys.key("backlog:"+j.uuid), "ticks wait although no cycle is live", fmt.Sprintf("begin the next cycle of %s", j.uuid), newFix("goon"))
	}
	if len(t.pending) > 0 {
		j.say("I11", j.keys.cycles(j.uuid), "replaced cycles whose occurrences go on: "+strings.Join(t.pending, ", "),
			fmt.Sprintf("cancel what is left of the replaced cycles of %s", j.uuid), newFix("goon"))
	}
}

// settings compares the hash with the template's bytes, and tells whether they differ.
func (j *judgement) settings(t *templateSeen, key string) bool {
	declared := declaredFields(t.bytes)
	if declared == nil {
		return false
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if text, there := t.fields[name]; text != declared[name] || !there {
			wrong = append(wrong, name)
		}
	}
	for _, name := range templateNumbers {
		if text := t.fields[name]; text != "" {
			if _, err := strconv.ParseUint(text, 10, 53); err != nil {
				wrong = append(wrong, name)
			}
		}
	}
	if t.fields["since"] == "" && t.ticking() {
		wrong = append(wrong, "since")
	}
	if len(wrong) == 0 {
		return false
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		text.WriteString(name + "\n" + declared[name] + "\n")
	}
	j.say("I1", key, "differs from how the template is declared: "+strings.Join(slices.Compact(wrong), ", "),
		fmt.Sprintf("declare template %s anew by its bytes", j.uuid), newFix("template", text.String()))
	return true
}
