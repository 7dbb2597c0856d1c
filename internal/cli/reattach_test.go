package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// shop is a workflow of the tests that run waybill as a process: its directory and its store.
type shop struct {
	*testing.T
	dir string
	url string // of its Redis; "": the embedded store
}

// onBothStores opens a workflow of these files on each wanted store.
func onBothStores(t *testing.T, hcl string, test func(s *shop)) {
	for _, store := range wantedStores() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s := &shop{T: t, dir: t.TempDir()}
			if store == "redis" {
				s.url = redistest.StartTCP(t).URL()
			}
			writeFile(t, filepath.Join(s.dir, "main.hcl"), hcl)
			test(s)
		})
	}
}

// command is waybill in the workflow's directory. It ends with the test.
func (s *shop) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(s.Context(), 2*awaitAtMost)
	s.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "waybill", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=", "HOME="+filepath.Join(s.dir, "home"), "XDG_CONFIG_HOME=", "XDG_RUNTIME_DIR=", "GORACE="+noWait,
		"WAYBILL_REDIS="+s.url)
	return cmd
}

// runs runs a command to its end and returns what it wrote to stdout.
func (s *shop) runs(code int, args ...string) string {
	s.Helper()
	cmd := s.command(args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	cmd.Run() //nolint:errcheck // the code says it
	if got := cmd.ProcessState.ExitCode(); got != code {
		s.Fatalf("waybill %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), problems.String())
	}
	return out.String()
}

// worker starts one that leaves at the end of the test, before the store is looked at.
func (s *shop) worker() (leave func()) {
	s.Helper()
	cmd := s.command("worker", "-concurrency=4")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	return func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // then it has ended
		err := cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 130 { // 130: it had nothing to do and was still starting
			s.Errorf("the worker: %v\n%s", err, problems.String())
		}
	}
}

// logged is what the engine's log has of the workflow's jobs: "SEQ.PART ADDR STATE" of every change.
func (s *shop) logged(workflow string) []string {
	s.Helper()
	ctx := s.Context()
	var rdb redis.UniversalClient
	if s.url != "" {
		o, err := redis.ParseURL(s.url)
		s.ok(err)
		rdb = redis.NewClient(o)
		defer rdb.Close() //nolint:errcheck // nothing to lose
	} else {
		st, err := embedded.Open(ctx, filepath.Join(s.dir, ".waybill"), embedded.Options{})
		s.ok(err)
		defer st.Close() //nolint:errcheck // nothing to lose
		rdb = st.Client()
	}
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: "waybill"})
	s.ok(err)
	state, err := applier.ReadState(ctx, c, workflow)
	s.ok(err)
	names := map[string]string{}
	for address, r := range state.Records {
		names[r.UUID.String()] = address
	}
	var lines []string
	for seq := int64(0); ; {
		batch, err := c.Events(ctx, seq, 0)
		s.ok(err)
		for _, e := range batch.Events {
			for i, job := range e.Jobs {
				if name := names[job.UUID]; name != "" && e.Progress == nil {
					lines = append(lines, fmt.Sprintf("%d.%d %s %s", e.Seq, i+1, name, job.State))
				}
			}
		}
		if seq = batch.Seq; len(batch.Events) == 0 {
			return lines
		}
	}
}

func (s *shop) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// uiLine is what these tests look at of a line of -json.
type uiLine struct {
	Type     string
	Seq      int64
	Part     int
	Position struct{ After string }
	Hook     struct {
		Resource struct{ Addr string }
		Status   string
	}
}

// changesIn are the changes that whole lines tell, and the place behind the last of them; without any, that where they begin.
func changesIn(t *testing.T, text, after string) ([]string, string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitAfterSeq(text, "\n") {
		if !strings.HasSuffix(line, "\n") {
			continue // torn by the kill
		}
		var l uiLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case l.Type == "position":
			after = l.Position.After
		case l.Seq > 0:
			after = fmt.Sprintf("%d.%d", l.Seq, l.Part)
			lines = append(lines, fmt.Sprintf("%s %s %s", after, l.Hook.Resource.Addr, l.Hook.Status))
		}
	}
	return lines, after
}

const chains = `
workflow "chains" {}

job "first" {
  count = 8
  sleep { duration = "20ms" }
}

job "second" {
  for_each = { for i in range(8) : tostring(i) => i }
  type     = "noop"
  predecessor { job = job.first[each.value] }
}

job "child" {
  count = 8
  sleep { duration = "10ms" }
  parent { job = job.second[tostring(count.index)] }
}

job "last" {
  type = "noop"
  predecessor { jobs = values(job.second) }
}
`

// TestKilledApplyIsTakenUp kills apply -json at some line with kill -9, and again the wait -json that goes on behind its last line.
// What all of them told is the engine's log of the workflow's jobs: every change once, in order.
func TestKilledApplyIsTakenUp(t *testing.T) {
	t.Parallel()
	for _, killAt := range [][]int{{1}, {30}, {55, 8}, {61, 1, 1, 20}, {75, 30}, {95, 3}, {1 + rand.IntN(110), 1 + rand.IntN(60)}} {
		t.Run(fmt.Sprint(killAt), func(t *testing.T) {
			t.Parallel()
			onBothStores(t, chains, func(s *shop) {
				leave := func() {}
				args := []string{"apply", "-auto-approve", "-json", "-worker", "-parallelism=2"}
				if s.url != "" {
					args = []string{"apply", "-auto-approve", "-json"}
					leave = s.worker()
				}
				var told []string
				after := "0"
				for i, n := range killAt {
					var more []string
					more, after = changesIn(s.T, s.killed(n, args...), after)
					told = append(told, more...)
					if i == 0 { // what it had not submitted is submitted
						s.runs(0, "apply", "-auto-approve", "-detach")
						if s.url == "" {
							leave = s.worker()
						}
					}
					args = []string{"wait", "-json", "-after=" + after}
				}
				more, _ := changesIn(s.T, s.runs(0, args...), after)
				told = append(told, more...)
				leave()
				if diff := cmp.Diff(s.logged("chains"), told); diff != "" {
					s.Errorf("together (-engine's log +told):\n%s", diff)
				}
			})
		})
	}
}

// killed runs a command, kills it when it has written n lines, and returns what it wrote.
func (s *shop) killed(n int, args ...string) string {
	s.Helper()
	cmd := s.command(args...)
	out, err := cmd.StdoutPipe()
	s.ok(err)
	s.ok(cmd.Start())
	var text strings.Builder
	r := bufio.NewReader(out)
	for range n {
		line, err := r.ReadString('\n')
		text.WriteString(line)
		if err != nil {
			break
		}
	}
	cmd.Process.Kill() //nolint:errcheck // then it has ended
	io.Copy(&text, r)  //nolint:errcheck // as far as there is any
	cmd.Wait()         //nolint:errcheck // it was killed
	return text.String()
}

const talkative = `
workflow "talkative" {}

job "n" {
  count = 300
  type  = "noop"
}

job "last" {
  exec { command = ["touch", "done"] }
  predecessor { jobs = job.n }
}
`

// TestStalledReader has nobody read what apply -json writes, far more than a pipe holds: the jobs are done all the same, and
// another apply gets the lock. Then it is read, and nothing is missing.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	onBothStores(t, talkative, func(s *shop) {
		cmd := s.command("apply", "-auto-approve", "-json", "-worker")
		out, err := cmd.StdoutPipe()
		s.ok(err)
		s.ok(cmd.Start())
		r := bufio.NewReader(out)
		for following := false; !following; { // up to here it is the plan, which is written before anything is done
			line, err := r.ReadString('\n')
			s.ok(err)
			following = strings.Contains(line, `"type":"position"`)
		}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(awaitAtMost); ; <-tick.C {
			if _, err := os.Stat(filepath.Join(s.dir, "done")); err == nil {
				break
			}
			if time.Now().After(deadline) {
				s.Fatal("the jobs wait for the reader")
			}
		}
		s.runs(0, "apply", "-auto-approve", "-detach", "-rerun", "-target=job.n[0]", "-lock-timeout=0s")
		rest, err := io.ReadAll(r)
		s.ok(err)
		if err := cmd.Wait(); err != nil {
			s.Error(err)
		}
		told, _ := changesIn(s.T, string(rest), "")
		if n := strings.Count(strings.Join(told, "\n")+"\n", " completed\n"); n < 301 {
			s.Errorf("%d jobs were told to be completed, want 301 or more", n)
		}
	})
}

const endless = `
workflow "endless" {}

job "a" {
  type = "noop"
}

job "long" {
  exec { command = ["sh", "-c", "echo begun; touch started; while ! test -e go; do sleep 0.05; done"] }
  retry { max_attempts = 1 }
}

job "b" {
  count = 20
  exec { command = ["true"] }
  predecessor { job = job.long }
}
`

// TestReaderLeaves closes stdout as "| head" does, while everything is being submitted: all of it is, the job that runs is handed
// back or goes on, no attempt is spent, and the exit code is that of a closed pipe.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"-json", "-input=false"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, endless, func(s *shop) {
				cmd := s.command("apply", "-auto-approve", mode, "-worker")
				out, err := cmd.StdoutPipe()
				s.ok(err)
				s.ok(cmd.Start())
				s.leaves(out, ": Creating...")
				cmd.Wait() //nolint:errcheck // the code says it
				if got := cmd.ProcessState.ExitCode(); got != 141 {
					s.Errorf("exit code %d, want 141", got)
				}
				if got := s.runs(0, "plan"); !strings.Contains(got, "No changes.") {
					s.Errorf("not all was submitted:\n%s", got)
				}
				writeFile(s.T, filepath.Join(s.dir, "go"), "")
				s.runs(0, "apply", "-auto-approve", "-worker")
				if got := s.runs(0, "show", "-json", "job.long"); !strings.Contains(got, `"status":"completed"`) {
					s.Errorf("job.long: %s", got)
				}
			})
		})
	}
}

// leaves reads a command's output until a text has come, and closes it.
func (s *shop) leaves(out io.ReadCloser, text string) {
	s.Helper()
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		s.ok(err)
		if strings.Contains(line, text) {
			break
		}
	}
	s.ok(out.Close())
}

// TestReaderLeavesPlan closes stdout while the plan is shown: nothing is submitted that nobody has seen.
func TestReaderLeavesPlan(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"-json", "-input=false"} {
		s := &shop{T: t, dir: t.TempDir()}
		writeFile(t, filepath.Join(s.dir, "main.hcl"), talkative)
		cmd := s.command("apply", "-auto-approve", mode)
		out, err := cmd.StdoutPipe()
		s.ok(err)
		s.ok(out.Close())
		cmd.Run() //nolint:errcheck // the code says it
		if got := cmd.ProcessState.ExitCode(); got != 141 {
			t.Errorf("%s: exit code %d, want 141", mode, got)
		}
		if got := s.runs(0, "state", "list"); got != "" {
			t.Errorf("%s: the state holds %s", mode, got)
		}
	}
}

// TestReaderLeavesOthers closes the stdout of commands that only tell: they end at once, and say nothing of it.
func TestReaderLeavesOthers(t *testing.T) {
	t.Parallel()
	s := &shop{T: t, dir: t.TempDir()}
	writeFile(t, filepath.Join(s.dir, "main.hcl"), endless)
	for _, args := range [][]string{{"plan"}, {"plan", "-json"}, {"schema", "-json"}, {"docs"}, {"apply", "-help"}} {
		cmd := s.command(args...)
		out, err := cmd.StdoutPipe()
		s.ok(err)
		var problems bytes.Buffer
		cmd.Stderr = &problems
		s.ok(out.Close())
		s.ok(cmd.Start())
		cmd.Wait() //nolint:errcheck // the code says it
		if got := cmd.ProcessState.ExitCode(); got != 141 || problems.Len() > 0 {
			t.Errorf("waybill %s: exit code %d, want 141; %s", strings.Join(args, " "), got, problems.String())
		}
	}
}
