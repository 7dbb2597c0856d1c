package applier

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
)

func TestBuildJob(t *testing.T) {
	t.Parallel()
	id, up, other := uuid.NewSHA1(uuid.Nil, []byte("job")), "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	base := config.Job{Addr: addr(t, `job.load["eu"]`), Type: "noop", Queue: "etl", Priority: 1, Retry: defaultRetry}
	with := func(change func(*config.Job)) *config.Job { j := base; change(&j); return &j }
	plain := &wire.Job{Uuid: id.String(), Type: "noop", Queue: "etl", Name: `job.load["eu"]`}
	want := func(change func(*wire.Job)) *wire.Job {
		j := proto.Clone(plain).(*wire.Job)
		change(j)
		return j
	}
	at := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		job   *config.Job
		edges []planner.Edge
		want  *wire.Job
	}{
		"defaults are left out": {&base, nil, plain},
		"one plain edge of each kind": {&base,
			[]planner.Edge{{Kind: planner.EdgeParent, UUID: up, Opening: 1}, {Kind: planner.EdgeSuccess, UUID: other, Opening: 1}},
			want(func(j *wire.Job) { j.ParentUuid, j.PredecessorUuid = up, other })},
		"an opening needs the list": {&base, []planner.Edge{{Kind: planner.EdgeParent, UUID: up, Opening: 2}},
			want(func(j *wire.Job) { j.ParentUuid, j.Edges = up, []*wire.Edge{{Uuid: up, Opening: 2}} })},
		"policies need the list": {&base,
			[]planner.Edge{{Kind: planner.EdgeParentLenient, UUID: up, Opening: 1}, {Kind: planner.EdgeFailure, Group: 0, UUID: other, Opening: 1},
				{Kind: planner.EdgeSuccessor, Group: 1, UUID: up, Opening: 1}},
			want(func(j *wire.Job) {
				j.ParentUuid, j.PredecessorUuid = up, other
				j.Edges = []*wire.Edge{{Uuid: up, Opening: 1, IgnoreFailure: true},
					{Kind: wire.Edge_PREDECESSOR, Uuid: other, Opening: 1, RunIf: wire.Edge_FAILURE},
					{Kind: wire.Edge_PREDECESSOR, Uuid: up, Opening: 1, Group: 1, RunIf: wire.Edge_ALWAYS}}
			})},
		"times, priority and retries": {
			with(func(j *config.Job) {
				j.Priority, j.Timeout, j.Reserve = 0, time.Minute, 2*time.Minute
				j.RunAt = config.RunAt{Set: true, Time: at, After: time.Hour}
				j.Retry = config.Retry{MaxAttempts: 0, MaxLost: 1, Backoff: config.BackoffLinear, Min: time.Second, Max: time.Minute, Hold: true}
			}), nil,
			want(func(j *wire.Job) {
				j.Priority, j.Timeout, j.ReserveFor = proto.Int32(0), durationpb.New(time.Minute), durationpb.New(2*time.Minute)
				j.RunAt, j.After = timestamppb.New(at), durationpb.New(time.Hour)
				j.RetryPolicy = &wire.RetryPolicy{MaxAttempts: proto.Int32(0), MaxLost: proto.Int32(1), Backoff: wire.RetryPolicy_LINEAR,
					Min: durationpb.New(time.Second), Max: durationpb.New(time.Minute), Jitter: proto.Float64(0), HoldOnExhausted: true}
			})},
		"identity, labels and ends": {
			with(func(j *config.Job) {
				j.Unique, j.Labels = "eu", map[string]string{"team": "sales"}
				j.RemoveAfter, j.Retention = time.Hour, time.Minute
			}), nil,
			want(func(j *wire.Job) {
				j.Unique, j.Labels = "eu", map[string]string{"team": "sales"}
				j.RemoveAfter, j.Retention = durationpb.New(time.Hour), durationpb.New(time.Minute)
			})},
		"a placeholder is filled": {
			with(func(j *config.Job) { j.Payload = []byte(`{"up":"` + placeholder("job.up") + `"}`) }), nil,
			want(func(j *wire.Job) { j.Payload = []byte(`{"up":"` + up + `"}`) })},
		"results are read of submissions": {
			with(func(j *config.Job) {
				j.Payload = []byte(`{"n":"` + config.Reading{Address: "job.up", Path: []any{"rows", 0}, Form: "v"}.Placeholder() + `","looks":"` +
					config.Reading{Address: "job.other", Form: "v"}.Placeholder() + `"}`)
				j.Results = []config.Result{{Job: addr(t, "job.up")}}
			}), nil,
			want(func(j *wire.Job) {
				j.Payload = []byte(`{"n":"` + conveyor.Reading{UUID: up, Name: "job.up", Path: []any{"rows", 0}, Form: "v"}.String() + `","looks":"` +
					config.Reading{Address: "job.other", Form: "v"}.Placeholder() + `"}`)
				j.Results = []string{up}
			})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := jobBuilder{namespace: "n", uuids: func(a config.Addr) (string, bool) { return up, a.Name == "up" }}
			got, err := b.build(test.job, &planner.Record{UUID: id, Edges: test.edges}, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBuildSealsAndSigns checks that what a worker with the key reads is what was declared, and that nobody else can.
func TestBuildSealsAndSigns(t *testing.T) {
	t.Parallel()
	keyring, err := conveyor.NewKeyring(strings.Repeat("secret", 6))
	if err != nil {
		t.Fatal(err)
	}
	j := &config.Job{Addr: addr(t, "job.a"), Type: "exec", Queue: "q", Priority: 1, Retry: defaultRetry,
		Payload: []byte(`{"env":{"KEY":"hunter2","UP":"` + placeholder("job.up") + `"}}`), Sensitive: true}
	b := jobBuilder{namespace: "n", keyring: keyring, uuids: func(config.Addr) (string, bool) { return "the-uuid", true }}
	job, err := b.build(j, &planner.Record{UUID: uuid.New()}, false)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(job.String(), "hunter2") {
		t.Errorf("the job shows its secret: %s", job)
	}
	if err := keyring.Verify("n", job); err != nil {
		t.Error(err)
	}
	payload, err := keyring.OpenJob(job)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"env":{"KEY":"hunter2","UP":"the-uuid"}}`, string(payload)); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
	without := jobBuilder{namespace: "n", uuids: b.uuids}
	if _, err := without.build(j, &planner.Record{}, false); !errors.Is(err, conveyor.ErrNoKey) {
		t.Errorf("without a key: %v, want %v", err, conveyor.ErrNoKey)
	}
}

// TestBuildWantsReadJobs: whose result is read has to have been submitted.
func TestBuildWantsReadJobs(t *testing.T) {
	t.Parallel()
	b := jobBuilder{uuids: func(config.Addr) (string, bool) { return "", false }}
	_, err := b.build(&config.Job{Addr: addr(t, "job.a"), Results: []config.Result{{Job: addr(t, "job.up")}}}, &planner.Record{}, false)
	if err == nil || !strings.Contains(err.Error(), "submit job.a: it reads the result of job.up, which has no submission") {
		t.Errorf("error %v", err)
	}
}

func TestFillPlaceholders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want, problem string
	}{
		"none":          {in: `{"a":1}`, want: `{"a":1}`},
		"two":           {in: "x" + placeholder("job.a") + "y" + placeholder("job.b") + "z", want: "x<a>y<b>z"},
		"not submitted": {in: placeholder("job.gone"), problem: "names the uuid of job.gone"},
		"cut off":       {in: "a@{uuid:abc", want: "a@{uuid:abc"},
		"not base64":    {in: "@{uuid:!!}" + placeholder("job.a"), want: "@{uuid:!!}<a>"},
		"no address":    {in: placeholder("load"), want: placeholder("load")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := fillPlaceholders([]byte(test.in), func(a config.Addr) (string, bool) {
				if a.Name == "gone" {
					return "", false
				}
				return "<" + a.Name + ">", true
			})
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Fatalf("error is %v, want one with %q", err, test.problem)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("filled is %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func placeholder(address string) string { return config.Placeholder(address) }
