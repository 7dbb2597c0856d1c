package handlers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// recorder is an attempt without a store.
type recorder struct {
	mu     sync.Mutex
	out    bytes.Buffer
	result []byte
	sync   map[string]string
	synced bool
	defers []time.Duration
	wrote  chan struct{} // 1 slot
}

func newRecorder() *recorder { return &recorder{wrote: make(chan struct{}, 1)} }

// left checks what the attempt leaves to the next execution, nil for nothing, and for how long it defers itself.
func (r *recorder) left(t *testing.T, sync map[string]string, defers []time.Duration) {
	t.Helper()
	got := r.sync
	if !r.synced {
		got = nil
	}
	if diff := cmp.Diff(sync, got); diff != "" {
		t.Errorf("sync (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(defers, r.defers); diff != "" {
		t.Errorf("defers (-want +got):\n%s", diff)
	}
}

func (r *recorder) Fence() int64      { return 3 }
func (r *recorder) Output() io.Writer { return r }

func (r *recorder) SetResult(result []byte) error {
	if len(result) > conveyor.MaxResult {
		return conveyor.ErrTooLarge
	}
	r.result = result
	return nil
}

func (r *recorder) Sync() map[string]string { return maps.Clone(r.sync) }
func (r *recorder) Defer(d time.Duration)   { r.defers = append(r.defers, d) }

func (r *recorder) SetSync(state map[string]string) error {
	r.sync, r.synced = state, true
	return nil
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.wrote <- struct{}{}:
	default:
	}
	return r.out.Write(p)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

// await returns when the output contains want.
func (r *recorder) await(t *testing.T, want string) {
	t.Helper()
	for !strings.Contains(r.text(), want) {
		select {
		case <-r.wrote:
		case <-t.Context().Done():
			t.Fatalf("output never had %q: %q", want, r.text())
		}
	}
}

// newTestExecutor runs jobs in a directory of its own.
func newTestExecutor(t *testing.T, o Options) *executor {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	e := newExecutor(o)
	t.Cleanup(e.close)
	return e
}

func write(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestExec(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		exec      Exec
		files     map[string]string // scripts, made executable
		want      string            // output
		result    string
		err       string // contained in the error; "" is success
		permanent bool
	}{
		{name: "arguments are not split", exec: Exec{Command: []string{"printf", "%s|", "a b", "$HOME", ""}}, want: "a b|$HOME||"},
		{name: "shell text", exec: Exec{Shell: "x=1; echo $((x+1)) | cat"}, want: "2\n"},
		{name: "stdout and stderr in order", exec: Exec{Shell: "echo a; echo b >&2; echo c; echo d >&2"}, want: "a\nb\nc\nd\n"},
		{name: "stdin", exec: Exec{Command: []string{"cat"}, Stdin: "line 1\nline 2"}, want: "line 1\nline 2"},
		{name: "no stdin is empty", exec: Exec{Command: []string{"cat"}}},
		{name: "stdin that nobody reads", exec: Exec{Command: []string{"true"}, Stdin: strings.Repeat("x", 1<<20)}},
		{name: "relative script", files: map[string]string{"run.sh": "#!/bin/sh\necho ran $1"}, exec: Exec{Command: []string{"./run.sh", "it"}}, want: "ran it\n"},
		{name: "directory", files: map[string]string{"sub/run.sh": "#!/bin/sh\nbasename $(pwd)"}, exec: Exec{Command: []string{"./run.sh"}, Dir: "sub"}, want: "sub\n"},
		{name: "own path", files: map[string]string{"bin/tool": "#!/bin/sh\necho tool"}, exec: Exec{Command: []string{"tool"}, Env: map[string]string{"PATH": "bin:/usr/bin:/bin"}}, want: "tool\n"},
		{name: "exit status", exec: Exec{Shell: "echo no; exit 3"}, want: "no\n", err: "exit status 3"},
		{name: "killed by a signal", exec: Exec{Shell: "kill -KILL $$"}, err: "killed by signal SIGKILL"},
		{name: "missing script", exec: Exec{Command: []string{"./gone.sh"}}, err: "/gone.sh does not exist"},
		{name: "missing program", exec: Exec{Command: []string{"waybill-no-such-program"}}, err: "it is in no directory of PATH"},
		{name: "not executable", files: map[string]string{"-plain": "x"}, exec: Exec{Command: []string{"./plain"}}, err: "/plain is not executable"},
		{name: "a directory", files: map[string]string{"sub/x": "x"}, exec: Exec{Command: []string{"./sub"}}, err: "/sub is a directory"},
		{name: "not a program", files: map[string]string{"noise": "\x00\x01"}, exec: Exec{Command: []string{"./noise"}}, err: "exec format error"},
		{name: "missing directory", exec: Exec{Command: []string{"true"}, Dir: "nowhere"}, err: "/nowhere is missing on host"},
		{name: "nothing", exec: Exec{}, err: "no command", permanent: true},
		{name: "command and shell", exec: Exec{Command: []string{"true"}, Shell: "true"}, err: "only one", permanent: true},
		{name: "NUL in the command", exec: Exec{Command: []string{"echo", "a\x00b"}}, err: "NUL", permanent: true},
		{name: "bad variable", exec: Exec{Command: []string{"true"}, Env: map[string]string{"A=B": "x"}}, err: "cannot be a variable", permanent: true},
		{name: "result of lines", exec: Exec{Shell: `printf 'rows=12\n\npath = /a=b \n' > "$WAYBILL_OUTPUT"`}, result: `{"path":" /a=b ","rows":"12"}`},
		{name: "result of JSON", exec: Exec{Shell: `echo '{"rows": 12}' > "$WAYBILL_OUTPUT"`}, result: `{"rows":12}`},
		{name: "empty result", exec: Exec{Shell: `: > "$WAYBILL_OUTPUT"`}},
		{name: "result that is neither", exec: Exec{Shell: `printf 'a=1\nwhat\n' > "$WAYBILL_OUTPUT"`}, err: "line 2"},
		{name: "result that starts like JSON", exec: Exec{Shell: `echo '{"a":' > "$WAYBILL_OUTPUT"`}, err: "starts like JSON"},
		{name: "result over the limit", exec: Exec{Shell: `head -c 1048577 /dev/zero > "$WAYBILL_OUTPUT"`}, err: "over the limit"},
		{name: "failed attempt leaves no result", exec: Exec{Shell: `echo a=1 > "$WAYBILL_OUTPUT"; false`}, err: "exit status 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newTestExecutor(t, Options{})
			for name, content := range tt.files {
				mode := os.FileMode(0o755)
				if rest, plain := strings.CutPrefix(name, "-"); plain {
					name, mode = rest, 0o644
				}
				write(t, filepath.Join(e.o.Dir, name), content, mode)
			}
			a := newRecorder()
			err := e.run(t.Context(), &wire.Job{Uuid: "u", Name: "job.x"}, tt.exec, a)
			if tt.err == "" && err != nil {
				t.Fatalf("error: %v", err)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want one with %q", err, tt.err)
			}
			if got := isPermanent(err); got != tt.permanent {
				t.Errorf("permanent: %v, want %v", got, tt.permanent)
			}
			if diff := cmp.Diff(tt.want, a.text()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.result, string(a.result)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// isPermanent asks the way a worker does: Permanent adds a layer with the same text.
func isPermanent(err error) bool {
	inner := errors.Unwrap(err)
	return inner != nil && inner.Error() == err.Error()
}

func TestExecMissingCommandNamesHost(t *testing.T) {
	t.Parallel()
	e := newTestExecutor(t, Options{})
	err := e.run(t.Context(), &wire.Job{}, Exec{Command: []string{"./gone.sh"}}, newRecorder())
	if err == nil || !strings.Contains(err.Error(), e.host) {
		t.Errorf("error %v does not name host %s", err, e.host)
	}
}

// TestExecEnvironment is not parallel: it sets variables of the worker that must not reach the process.
func TestExecEnvironment(t *testing.T) {
	t.Setenv("WAYBILL_KEY", "0123456789abcdef")
	t.Setenv("WAYBILL_REDIS", "redis://secret")
	t.Setenv("OTHER", "x")
	t.Setenv("HOME", "/home/worker")
	t.Setenv("LANG", "C")
	t.Setenv("TMPDIR", os.TempDir())
	t.Setenv("PATH", "/usr/bin:/bin")
	e := newTestExecutor(t, Options{})
	a := newRecorder()
	job := &wire.Job{Uuid: "u-1", Name: `job.load["eu"]`, RunAt: timestamppb.New(time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC))}
	err := e.run(t.Context(), job, Exec{Command: []string{"env"}, Env: map[string]string{
		"DAY": "1", "HOME": "/mine", "WAYBILL_UUID": "forged"}}, a)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(a.text()), "\n") {
		for _, file := range []string{"WAYBILL_DEFER=", "WAYBILL_OUTPUT=", "WAYBILL_SYNC="} {
			if strings.HasPrefix(line, file) {
				line = file + "..."
			}
		}
		got = append(got, line)
	}
	want := []string{"DAY=1", "HOME=/mine", "LANG=C", "PATH=/usr/bin:/bin", "TMPDIR=" + os.TempDir(), "WAYBILL_ATTEMPT=3", "WAYBILL_DEFER=...",
		`WAYBILL_JOB=job.load["eu"]`, "WAYBILL_OUTPUT=...", "WAYBILL_SCHEDULED_FOR=2026-11-21T06:00:00Z",
		"WAYBILL_SYNC=...", "WAYBILL_UUID=u-1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestExecScratchIsRemoved(t *testing.T) {
	t.Parallel()
	e := newTestExecutor(t, Options{})
	a := newRecorder()
	if err := e.run(t.Context(), &wire.Job{}, Exec{Shell: `dirname "$WAYBILL_OUTPUT"; echo a=1 > "$WAYBILL_OUTPUT"`}, a); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(strings.TrimSpace(a.text())); !os.IsNotExist(err) {
		t.Errorf("scratch directory: %v, want it gone", err)
	}
}

func TestExecStops(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script string
		cause  error
		want   string // output
	}{
		{name: "SIGTERM is heard", cause: conveyor.ErrTimeout, want: "ready\nterm\n",
			script: `trap 'echo term; exit 0' TERM; echo ready; sleep 1000 & wait`},
		{name: "SIGKILL follows for the deaf", cause: conveyor.ErrCancelled, want: "ready\n",
			script: `trap '' TERM; echo ready; while :; do sleep 0.05; done`},
		{name: "children of the process are in it", cause: conveyor.ErrCancelled, want: "ready\n",
			script: `sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done' & wait`},
		{name: "a superseded attempt is not asked", cause: conveyor.ErrOutdated, want: "ready\n",
			script: `trap 'echo term' TERM; echo ready; while :; do sleep 0.05; done`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newTestExecutor(t, Options{Grace: 200 * time.Millisecond})
			ctx, cancel := context.WithCancelCause(t.Context())
			a := newRecorder()
			done := make(chan error)
			go func() { done <- e.run(ctx, &wire.Job{}, Exec{Shell: tt.script}, a) }()
			a.await(t, "ready")
			cancel(tt.cause)
			if err := <-done; !errors.Is(err, tt.cause) {
				t.Errorf("error %v, want %v", err, tt.cause)
			}
			if diff := cmp.Diff(tt.want, a.text()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}
