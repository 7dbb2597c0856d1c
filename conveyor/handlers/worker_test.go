//go:build unix

package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestRegister runs jobs of every built-in type by a real worker on both stores.
func TestRegister(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *redis.Client{
		"redis":     func(t testing.TB) *redis.Client { return redistest.Shared(t).Client(t) },
		"miniredis": redistest.Miniredis,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRegister(t, open(t))
		})
	}
}

func testRegister(t *testing.T, rdb *redis.Client) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	namespace := redistest.Namespace()
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := conveyor.NewKeyring("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "q"}}, Keyring: ring})
	if err != nil {
		t.Fatal(err)
	}
	if err := Register(w, Options{Dir: t.TempDir(), Grace: 200 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()

	tests := []struct {
		name     string
		jobType  string
		payload  any
		timeout  time.Duration
		attempts int32
		seal     bool
		unsigned bool
		state    conveyor.State
		log      string
		result   string
		failure  string // contained
	}{
		{name: "exec", jobType: TypeExec, payload: Exec{Shell: `echo "$WAYBILL_JOB $WAYBILL_ATTEMPT"; echo n=1 >> "$WAYBILL_OUTPUT"`},
			state: conveyor.StateCompleted, log: "job.exec 1\n", result: `{"n":"1"}`},
		{name: "sealed", jobType: TypeExec, payload: Exec{Command: []string{"sh", "-c", `echo "$KEY" | wc -c`}, Env: map[string]string{"KEY": "secret"}}, seal: true,
			state: conveyor.StateCompleted, log: "7\n"},
		{name: "retried", jobType: TypeExec, payload: Exec{Shell: `echo "$WAYBILL_ATTEMPT"; test "$WAYBILL_ATTEMPT" = 2`}, attempts: 2,
			state: conveyor.StateCompleted, log: "1\n2\n", failure: "exit status 1"},
		{name: "missing", jobType: TypeExec, payload: Exec{Command: []string{"./gone.sh"}}, attempts: 1, state: conveyor.StateFailed,
			failure: "gone.sh does not exist"},
		{name: "timeout", jobType: TypeExec, payload: Exec{Shell: "sleep 1000"}, timeout: 50 * time.Millisecond, attempts: 1, state: conveyor.StateFailed,
			failure: "timeout after 50ms"},
		{name: "unsigned", jobType: TypeExec, payload: Exec{Shell: "echo no"}, unsigned: true, state: conveyor.StateOnHold,
			failure: "job is not signed"},
		{name: "newer", jobType: TypeExec, payload: map[string]any{"command": []string{"true"}, "sandbox": true}, state: conveyor.StateFailed,
			failure: `unknown field "sandbox"`},
		{name: "http", jobType: TypeHTTP, payload: HTTP{URL: s.URL}, state: conveyor.StateCompleted, result: `{"status":200,"body":""}`},
		{name: "busy", jobType: TypeHTTP, payload: HTTP{URL: s.URL + "/busy"}, attempts: 2, state: conveyor.StateFailed, failure: "status 503"},
		{name: "sleep", jobType: TypeSleep, payload: Sleep{"1ms"}, unsigned: true, state: conveyor.StateCompleted},
		{name: "noop", jobType: TypeNoop, payload: "anything", unsigned: true, state: conveyor.StateCompleted},
	}
	uuids := make([]string, len(tests))
	for i, tt := range tests {
		payload, err := json.Marshal(tt.payload)
		if err != nil {
			t.Fatal(err)
		}
		uuids[i] = tt.name
		j := &wire.Job{Uuid: tt.name, Name: "job." + tt.name, Type: tt.jobType, Queue: "q", Payload: payload,
			RetryPolicy: &wire.RetryPolicy{Min: durationpb.New(time.Millisecond)}}
		if tt.attempts > 0 {
			j.RetryPolicy.MaxAttempts = &tt.attempts
		}
		if tt.timeout > 0 {
			j.Timeout = durationpb.New(tt.timeout)
		}
		if tt.seal {
			if err := ring.SealJob(j); err != nil {
				t.Fatal(err)
			}
		}
		if !tt.unsigned {
			if err := ring.Sign(namespace, j); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Add(ctx, j); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	statuses := settled(t, c, uuids)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}

	for i, tt := range tests {
		if statuses[i].State != tt.state {
			t.Errorf("%s is %s, want %s", tt.name, statuses[i].State, tt.state)
		}
		failure, err := c.Failure(t.Context(), tt.name)
		if err != nil || !strings.Contains(failure, tt.failure) || tt.failure == "" && failure != "" {
			t.Errorf("%s: failure %q, %v, want %q", tt.name, failure, err, tt.failure)
		}
		result, err := c.Result(t.Context(), tt.name)
		if string(result) != tt.result || err != nil && tt.result != "" {
			t.Errorf("%s: result %q, %v, want %q", tt.name, result, err, tt.result)
		}
		entries, err := c.Logs(t.Context(), tt.name, conveyor.LogPosition{}, 100, 0)
		if err != nil {
			t.Error(err)
		}
		log := ""
		for _, e := range entries {
			log += string(e.Text)
		}
		if diff := cmp.Diff(tt.log, log); diff != "" {
			t.Errorf("%s: log (-want +got):\n%s", tt.name, diff)
		}
	}
	violations, err := c.Verify(t.Context())
	if err != nil || len(violations) > 0 {
		t.Errorf("violations %v, %v", violations, err)
	}
}

// settled follows events until all jobs have ended or are on hold.
func settled(t *testing.T, c *conveyor.Client, uuids []string) []conveyor.Status {
	t.Helper()
	after, err := c.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		statuses, err := c.Statuses(t.Context(), uuids)
		if err != nil {
			t.Fatal(err)
		}
		open := 0
		for _, s := range statuses {
			if !s.State.Ended() && s.State != conveyor.StateOnHold {
				open++
			}
		}
		if open == 0 {
			return statuses
		}
		batch, err := c.Events(t.Context(), after, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		after = batch.Seq
	}
}

func TestRegisterOptions(t *testing.T) {
	t.Parallel()
	c, err := conveyor.NewClient(redistest.Miniredis(t), conveyor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := conveyor.NewWorker(c, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{}})
	if err != nil {
		t.Fatal(err)
	}
	err = Register(w, Options{Dir: "/nowhere", Grace: -1})
	for _, want := range []string{"field Dir: stat /nowhere", "field Grace: -1ns is negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
