package planner_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

func sampleRecord() *planner.Record {
	id := uuid.MustParse("8c4f1f39-8f3a-4f6e-8a52-6e6cf0f0a001")
	return &planner.Record{
		Version: 17, UUID: id, Generation: 3, Opening: 1, Work: planner.Digest{1, 2, 3}, Handling: planner.Digest{4, 5},
		Queue: "etl", Type: "exec", Definition: []byte(`{"exec":{"command":["./load.sh"]}}`),
		Edges: []planner.Edge{
			{Kind: planner.EdgeParent, Addr: addr("job.extract"), UUID: id.String(), Opening: 1},
			{Kind: planner.EdgeAlways, Group: 1, Addr: addr(`job.x["e\u00fc \"u\""]`), UUID: id.String(), Opening: 2},
			{Kind: planner.EdgeFailure, Group: 2, Addr: addr(`module.m.job.x[300]`), UUID: id.String(), Opening: 1},
			{Kind: planner.EdgeSuccess, UUID: "Some.Job_outside-7", Opening: 1},
			{Kind: planner.EdgeSuccessor, Group: 3, UUID: strings.ToUpper(id.String()), Opening: 9},
		},
	}
}

func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	keyed := sampleRecord()
	keyed.KeyID, keyed.Deposed, keyed.Worked = "0badcafe", true, 90*time.Second+time.Millisecond
	bare := &planner.Record{Version: 1, Opening: 1}
	for name, r := range map[string]*planner.Record{"sample": sampleRecord(), "keyed and deposed": keyed, "bare": bare} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := planner.DecodeRecord("job.a", string(r.AppendTo(nil)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRecordSize keeps the memory budget: besides its definition a record with two edges takes at most 150 bytes.
func TestRecordSize(t *testing.T) {
	t.Parallel()
	r := sampleRecord()
	r.Edges = []planner.Edge{
		{Kind: planner.EdgeParent, Addr: addr("job.extract"), UUID: r.UUID.String(), Opening: 1},
		{Kind: planner.EdgeSuccess, Addr: addr("job.prepare"), UUID: r.UUID.String(), Opening: 1},
	}
	raw := r.AppendTo(nil)
	if size := len(raw) - len(r.Definition); size > 150 {
		t.Errorf("%d bytes", size)
	}
	if !strings.HasPrefix(string(raw), "17 1 ") {
		t.Errorf("starts %q, want its version and format", raw[:8])
	}
}

func TestRecordErrors(t *testing.T) {
	t.Parallel()
	good := string(sampleRecord().AppendTo(nil))
	tests := []struct{ name, value, want string }{
		{"empty", "", "does not start with a version and a format"},
		{"no version", "x 1 abc", "does not start with a version and a format"},
		{"version zero", "0 1 abc", "does not start with a version and a format"},
		{"newer format", strings.Replace(good, "17 1 ", "17 2 ", 1), "has format 2, and this version of waybill reads format 1"},
		{"cut short", good[:60], "ends in the middle"},
		{"unknown flag", strings.Replace(good, "17 1 \x00", "17 1 \x80", 1), "what format 1 does not have"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := planner.DecodeRecord(`job.a["x"]`, test.value)
			if !errors.Is(err, planner.ErrRecord) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `job.a["x"]`) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// FuzzDecodeRecord feeds anything: no panic, no memory out of proportion, and what is read is written as it was read.
func FuzzDecodeRecord(f *testing.F) {
	f.Add(string(sampleRecord().AppendTo(nil)))
	f.Add("1 1 ")
	f.Add("1 9 x")
	f.Fuzz(func(t *testing.T, value string) {
		r, err := planner.DecodeRecord("job.a", value)
		if err != nil {
			return
		}
		again, err := planner.DecodeRecord("job.a", string(r.AppendTo(nil)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
		r.Document()
	})
}

func TestDigests(t *testing.T) {
	t.Parallel()
	base := workflowOf("a", "b a", "c")
	tests := []struct {
		name           string
		edit           func(*config.Job)
		work, handling bool
	}{
		{"nothing", func(*config.Job) {}, false, false},
		{"type", func(j *config.Job) { j.Type = "http" }, true, false},
		{"payload", newWork, true, false},
		{"input", func(j *config.Job) { j.Inputs = []config.Input{{Path: "x"}} }, true, false},
		{"triggers", func(j *config.Job) { j.Triggers = []byte("{}") }, true, false},
		{"after", func(j *config.Job) { j.RunAt.After = 1 }, true, false},
		{"queue", func(j *config.Job) { j.Queue = "other" }, false, true},
		{"priority", func(j *config.Job) { j.Priority = 2 }, false, true},
		{"timeout", newHandling, false, true},
		{"reserve_for", func(j *config.Job) { j.Reserve = 1 }, false, true},
		{"retries", func(j *config.Job) { j.Retry.MaxAttempts = 4 }, false, true},
		{"hold", func(j *config.Job) { j.Retry.Hold = true }, false, true},
		{"edge", func(j *config.Job) { j.Predecessors = nil }, false, true},
		{"condition", func(j *config.Job) { j.Predecessors[0].RunIf = config.RunIfAlways }, false, true},
		{"outside edge", func(j *config.Job) { j.Parents = []config.Parent{{UUID: "u"}} }, false, true},
		{"unique", func(j *config.Job) { j.Unique = "k" }, false, true},
		{"labels", func(j *config.Job) { j.Labels = map[string]string{"team": "a"} }, false, true},
		{"no labels", func(j *config.Job) { j.Labels = map[string]string{} }, false, false},
		{"remove_after", func(j *config.Job) { j.RemoveAfter = 1 }, false, true},
		{"retention", func(j *config.Job) { j.Retention = 1 }, false, true},
		{"on_change", func(j *config.Job) { j.OnChange = config.OnChangeIgnore }, false, false},
		{"what is shown", func(j *config.Job) { j.Shown = []byte("{}") }, false, false},
	}
	before := row(t, mustMake(t, base, noState(), planner.Options{}), "b")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := edited(base, "b", func(j *config.Job) {
				j.Predecessors = append([]config.Predecessor(nil), j.Predecessors...)
				test.edit(j)
			})
			after := row(t, mustMake(t, w, noState(), planner.Options{}), "b")
			if got := after.Work != before.Work; got != test.work {
				t.Errorf("work digest changed: %t, want %t", got, test.work)
			}
			if got := after.Handling != before.Handling; got != test.handling {
				t.Errorf("handling digest changed: %t, want %t", got, test.handling)
			}
		})
	}
}
