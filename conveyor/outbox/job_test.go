package outbox_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// connPool has the methods of the ConnPool of a GORM statement: gorm.io/gorm.ConnPool is this interface under its own name.
type connPool interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

var _ outbox.DB = connPool(nil)

func TestPayload(t *testing.T) {
	t.Parallel()
	binary, err := proto.Marshal(wrapperspb.String("x"))
	if err != nil {
		t.Fatal(err)
	}
	type thing struct{ ID int }
	tests := []struct {
		name string
		own  string // of the template
		args []any
		want string
	}{
		{"none", "", nil, ""},
		{"the template's", "mine", nil, "mine"},
		{"number", "", []any{1}, "1"},
		{"text", "", []any{"<x>"}, `"\u003cx\u003e"`},
		{"nil", "", []any{nil}, "null"},
		{"struct", "", []any{thing{1}}, `{"ID":1}`},
		{"bytes", "", []any{[]byte("any \xff")}, "any \xff"},
		{"JSON", "", []any{json.RawMessage(`{"a": 1}`)}, `{"a": 1}`},
		{"message", "", []any{wrapperspb.String("x")}, string(binary)},
		{"several", "", []any{1, "x", nil, thing{1}, json.RawMessage(`{"a": 1}`), wrapperspb.String("m")}, `[1,"x",null,{"ID":1},{"a":1},"m"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := outbox.NewScheduler(outbox.Table{Dialect: outbox.SQLite})
			if err := s.AddJob(&wire.Job{Type: "t", Queue: "q", Payload: []byte(tt.own)}, tt.args...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(s.Jobs()[0].Payload)); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPayloadIsCopied(t *testing.T) {
	t.Parallel()
	s, given := outbox.NewScheduler(outbox.Table{Dialect: outbox.SQLite}), []byte("before")
	if err := s.AddJobs([]*wire.Job{{Type: "t", Queue: "q"}, {Type: "u", Queue: "q"}}, given); err != nil {
		t.Fatal(err)
	}
	copy(given, "after!")
	s.Jobs()[0].Type = "changed"
	var got []string
	for _, job := range s.Jobs() {
		got = append(got, job.Type+" "+string(job.Payload))
	}
	if diff := cmp.Diff([]string{"t before", "u before"}, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestRefusedJobs(t *testing.T) {
	t.Parallel()
	keep := func(d time.Duration) *wire.Job {
		return &wire.Job{Type: "t", Queue: "q", RemoveAfter: durationpb.New(d)}
	}
	tests := []struct {
		name string
		job  *wire.Job
		args []any
		want error // nil: it is taken
		text string
	}{
		{"nil", nil, nil, conveyor.ErrNilJob, "schedule job: job is nil"},
		{"type", &wire.Job{Queue: "q"}, nil, conveyor.ErrTypeName, ": type is empty"},
		{"queue", &wire.Job{Type: "t", Queue: "a b"}, nil, conveyor.ErrQueueName, `schedule job (t): job `},
		{"priority", &wire.Job{Type: "t", Queue: "q", Priority: proto.Int32(3)}, nil, conveyor.ErrPriority, ": 3"},
		{"label", &wire.Job{Type: "t", Queue: "q", Labels: map[string]string{"": "x"}}, nil, conveyor.ErrLabel, ""},
		{"emitted", &wire.Job{Type: "t", Queue: "q", Tick: "1"}, nil, conveyor.ErrEmitted, ""},
		{"too large", &wire.Job{Type: "t", Queue: "q"}, []any{make([]byte, conveyor.MaxPayload+1)}, conveyor.ErrTooLarge, ""},
		{"payload twice", &wire.Job{Type: "t", Queue: "q", Payload: []byte("x")}, []any{1}, outbox.ErrPayload, "the job has a payload already"},
		{"no JSON", &wire.Job{Type: "t", Queue: "q"}, []any{math.NaN()}, outbox.ErrPayload, "unsupported value: NaN"},
		{"no JSON among several", &wire.Job{Type: "t", Queue: "q"}, []any{1, func() {}}, outbox.ErrPayload, "argument 2: "},
		{"not valid JSON", &wire.Job{Type: "t", Queue: "q"}, []any{1, json.RawMessage("{")}, outbox.ErrPayload, "argument 2: "},
		{"message", &wire.Job{Type: "t", Queue: "q"}, []any{wrapperspb.String("\xff")}, outbox.ErrPayload, "UTF-8"},
		{"forgotten too soon", keep(time.Hour - 1), nil, outbox.ErrRemoveAfter, "59m59.999999999s is less than 1h0m0s"},
		{"negative", keep(-1), nil, conveyor.ErrTime, ""},
		{"an hour", keep(time.Hour), nil, nil, ""},
		{"for as long as the queue says", keep(0), nil, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := outbox.NewScheduler(outbox.Table{Dialect: outbox.SQLite})
			err := s.AddJob(tt.job, tt.args...)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%q does not contain %q", err, tt.text)
			}
			if n := len(s.Jobs()); (n == 0) != (err != nil) {
				t.Errorf("%d jobs are collected", n)
			}
		})
	}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	keyring, err := conveyor.NewKeyring("0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	table, broken := outbox.Table{Dialect: outbox.SQLite}, errors.New("broken")
	s := outbox.NewScheduler(table, outbox.Prepare(func(job *wire.Job) error { return keyring.Sign("shop", job) }))
	if err := s.AddJobs([]*wire.Job{{Type: "t", Queue: "q"}, {Type: "u", Queue: "q"}}, 7); err != nil {
		t.Fatal(err)
	}
	for _, job := range s.Jobs() {
		if err := keyring.Verify("shop", job); err != nil {
			t.Errorf("%s: %v", job.Type, err)
		}
	}
	tests := []struct {
		name    string
		prepare func(job *wire.Job) error
		want    error
	}{
		{"error", func(*wire.Job) error { return broken }, broken},
		{"what it makes is checked", func(job *wire.Job) error { job.Queue = ""; return nil }, conveyor.ErrQueueName},
		{"uuid taken away", func(job *wire.Job) error { job.Uuid = ""; return nil }, conveyor.ErrUUID},
		{"one uuid for all", func(job *wire.Job) error { job.Uuid = "x"; return nil }, outbox.ErrTwice},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := outbox.NewScheduler(table, outbox.Prepare(tt.prepare))
			if err := s.AddJobs([]*wire.Job{plain("a"), plain("b")}); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if got := s.Jobs(); len(got) > 0 {
				t.Errorf("collected %v", uuids(got))
			}
		})
	}
}

// TestZeroScheduler calls what was not made by NewScheduler.
func TestZeroScheduler(t *testing.T) {
	t.Parallel()
	var s outbox.Scheduler
	for _, err := range []error{
		s.AddJob(plain("a")), s.CreatePendingJobs(t.Context(), silent{t}), s.PushJobs(t.Context()), s.DeletePendingJobs(t.Context(), silent{t}),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), "a Scheduler is made by NewScheduler") {
			t.Errorf("got %v", err)
		}
	}
}
