package config

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestValid loads every configuration in testdata/valid and compares the workflow with its golden file.
func TestValid(t *testing.T) {
	t.Parallel()
	for _, path := range cases(t, "testdata/valid") {
		name := strings.TrimSuffix(filepath.Base(path), ".hcl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, o := readCase(t, path)
			w, diags := Load(o)
			if len(diags) > 0 {
				t.Errorf("diagnostics: %v", texts(diags))
			}
			got := describe(w)
			golden := filepath.Join("testdata", "valid", name+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			checkWorkflow(t, w)
		})
	}
}

// describe writes all that a workflow says, but for ranges.
func describe(w *Workflow) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "workflow %q named=%t namespace=%q redis=%q\n", w.Name, w.Named, w.Namespace, w.Redis)
	if w.MovedFrom != "" {
		fmt.Fprintf(&b, "  moved_from %q\n", w.MovedFrom)
	}
	for _, q := range w.Queues {
		fmt.Fprintf(&b, "queue %q concurrency=%d weight=%d paused=%t fair=%t keep=%s,%d\n", q.Name, q.Concurrency, q.Weight, q.Paused, q.Fair, q.KeepFor, q.KeepCount)
	}
	for _, o := range w.Outputs {
		var d document
		if err := d.value(o.Value); err != nil {
			d.raw(err.Error())
		}
		fmt.Fprintf(&b, "output %q sensitive=%t description=%q\n  %s\n", o.Name, o.Sensitive, o.Description, d.real)
	}
	for _, m := range w.Moved {
		fmt.Fprintf(&b, "%s has moved to %s whole=%t\n", m.From, m.To, m.Whole())
	}
	for _, v := range w.Removed {
		fmt.Fprintf(&b, "%s is removed destroy=%t\n", v.From, v.Destroy)
	}
	for _, v := range w.Imports {
		fmt.Fprintf(&b, "%s is imported from %s\n", v.To, v.ID)
	}
	for _, p := range w.Protected {
		fmt.Fprintf(&b, "%s is protected\n", p.Block)
	}
	for _, j := range w.Jobs {
		fmt.Fprintf(&b, "%s type=%s queue=%s priority=%d", j.Addr, j.Type, j.Queue, j.Priority)
		if j.Timeout > 0 || j.Reserve > 0 {
			fmt.Fprintf(&b, " timeout=%s reserve=%s", j.Timeout, j.Reserve)
		}
		b.WriteString("\n")
		payload := j.Payload
		if j.Message != nil {
			payload = fmt.Appendf(nil, "%q", payload)
			for _, name := range slices.Sorted(maps.Keys(j.Message.Fields)) {
				fmt.Fprintf(&b, "  field %s: %s\n", name, j.Message.Fields[name])
			}
		}
		fmt.Fprintf(&b, "  payload %s\n", FillReadings(payload, func(r Reading) string { return "<" + r.String() + " as " + r.Form + ">" }))
		if j.Sensitive || j.Message != nil {
			fmt.Fprintf(&b, "  shown   %s\n", j.Shown)
		}
		if j.Unique != "" || j.RemoveAfter > 0 || j.Retention > 0 {
			fmt.Fprintf(&b, "  unique %q remove after %s retention %s\n", j.Unique, j.RemoveAfter, j.Retention)
		}
		for _, name := range slices.Sorted(maps.Keys(j.Labels)) {
			fmt.Fprintf(&b, "  label %q=%q\n", name, j.Labels[name])
		}
		if j.Triggers != nil {
			fmt.Fprintf(&b, "  triggers %s\n", j.Triggers)
		}
		for _, in := range j.Inputs {
			fmt.Fprintf(&b, "  input %s %x\n", in.Path, in.SHA256[:4])
		}
		for _, p := range j.Parents {
			fmt.Fprintf(&b, "  parent %v%s ignore=%t\n", addrOrNone(p.Job), p.UUID, p.IgnoreFailure)
		}
		for _, p := range j.Predecessors {
			implied := ""
			if p.Implied {
				implied = fmt.Sprintf(", implied on line %d", p.Range.Start.Line)
			}
			fmt.Fprintf(&b, "  predecessor %v%v if %s%s\n", p.Jobs, p.UUIDs, p.RunIf, implied)
		}
		if j.RunAt.Set {
			fmt.Fprintf(&b, "  run at %s after %s\n", j.RunAt.Time.Format(time.RFC3339), j.RunAt.After)
		}
		if c := j.Schedule; c != nil {
			fmt.Fprintf(&b, "  schedule %q every=%q cron=%q timezone=%q catchup=%s overlap=%s disabled=%t\n", c.Text, c.Every, c.Cron, c.Timezone, c.Catchup, c.Overlap, c.Disabled)
		}
		if j.Gate != nil {
			fmt.Fprintf(&b, "  gate waits for %q\n", j.Gate.Waiting)
		}
		if len(j.TriggersGate) > 0 {
			fmt.Fprintf(&b, "  triggers gates %q\n", j.TriggersGate)
		}
		if j.Delivery != nil {
			fmt.Fprintf(&b, "  delivery all=%t worker=%q\n", j.Delivery.All, j.Delivery.Worker)
		}
		if j.ObsoleteIf != nil {
			fmt.Fprintf(&b, "  obsolete if %q\n", j.ObsoleteIf.Labels)
		}
		if j.Sync != nil || j.MaxCycles > 0 {
			fmt.Fprintf(&b, "  sync %q max cycles %d\n", j.Sync, j.MaxCycles)
		}
		if j.Retry != defaultRetry {
			fmt.Fprintf(&b, "  retry %+v\n", j.Retry)
		}
		if j.OnChange != OnChangeFinish {
			fmt.Fprintf(&b, "  on change %d\n", j.OnChange)
		}
		if c := j.Lifecycle; c != nil {
			fmt.Fprintf(&b, "  ignores %v all=%t replaced by %v\n", c.Ignore, c.IgnoreAll, c.ReplacedBy)
		}
	}
	return b.Bytes()
}

func addrOrNone(a Addr) string {
	if a == (Addr{}) {
		return ""
	}
	return a.String()
}

// checkWorkflow checks what holds for every workflow that loaded without errors.
func checkWorkflow(t *testing.T, w *Workflow) {
	t.Helper()
	declared := map[Addr]bool{}
	for i, j := range w.Jobs {
		declared[j.Addr] = true
		if i > 0 && !w.Jobs[i-1].Addr.Less(j.Addr) {
			t.Errorf("%s is not behind %s", j.Addr, w.Jobs[i-1].Addr)
		}
		if back, err := ParseAddr(j.Addr.String()); err != nil || back != j.Addr {
			t.Errorf("%s reads back as %s, %v", j.Addr, back, err)
		}
		if !isStoreName(j.Type) || !isStoreName(j.Queue) || j.Priority < 0 || j.Priority > 2 || j.Payload == nil || j.Shown == nil {
			t.Errorf("%s is incomplete: %+v", j.Addr, j)
		}
		if s := j.Schedule; s != nil {
			if parsed, err := schedule.ParseText(s.Text); err != nil || parsed.String() != s.Text || (s.Every == "") == (s.Cron == "") || j.RunAt.Set {
				t.Errorf("%s has the schedule %+v: %v", j.Addr, s, err)
			}
		}
		if g := j.Gate; g != nil && (len(g.Waiting) == 0 || len(g.Ranges) != len(g.Waiting) || !slices.IsSorted(g.Waiting) || j.Schedule != nil) {
			t.Errorf("%s has the gate %+v", j.Addr, g)
		}
		if j.Range.Filename == "" {
			t.Errorf("%s has no range", j.Addr)
		}
	}
	for _, j := range w.Jobs {
		for _, p := range j.Parents {
			if (p.UUID == "") == (p.Job == Addr{}) || p.UUID == "" && !declared[p.Job] || p.Job == j.Addr {
				t.Errorf("%s has the parent %+v", j.Addr, p)
			}
		}
		for _, p := range j.Predecessors {
			if len(p.Jobs)+len(p.UUIDs) == 0 {
				t.Errorf("%s has an empty predecessor", j.Addr)
			}
			for _, a := range p.Jobs {
				if !declared[a] || a == j.Addr {
					t.Errorf("%s waits for %s", j.Addr, a)
				}
			}
		}
	}
}
