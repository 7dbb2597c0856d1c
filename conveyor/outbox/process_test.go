//go:build unix

package outbox_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// envProcess makes the test binary a process of its own instead: a role as JSON.
const envProcess = "OUTBOX_TEST_PROCESS"

// role is what such a process does, and with which database and store.
type role struct {
	Name      string // of roles
	System    sqltest.System
	DSN       string
	Redis     string // the path of its socket
	Namespace string
	Step      int // of the nine after which it is killed
	// Of a relay.
	Batch       int
	PushTimeout time.Duration
}

// roles are what processes can be. Their standard input is closed when they have to end, and when the test is dead.
var roles map[string]func(ctx context.Context, r role, out io.Writer) error

func init() {
	roles = map[string]func(context.Context, role, io.Writer) error{"steps": takeSteps, "relay": runRelay}
	processMain = func() (code int, ok bool) {
		text := os.Getenv(envProcess)
		if text == "" {
			return 0, false
		}
		if err := runProcess(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1, true
		}
		return 0, true
	}
}

func runProcess(text string) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return roles[r.Name](ctx, r, os.Stdout)
}

// client is the process's client of the store.
func (r role) client() (*conveyor.Client, func(), error) {
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: r.Redis, MaxRetries: -1, ContextTimeoutEnabled: true})
	c, err := conveyor.NewClient(rdb, conveyor.Options{Namespace: r.Namespace})
	return c, func() { _ = rdb.Close() }, err
}

// table is the process's outbox.
func (r role) table() (outbox.Table, error) {
	d, err := outbox.ParseDialect(string(r.System))
	return outbox.Table{Dialect: d}, err
}

// open opens all that a process of a role works on.
func (r role) open() (outbox.Table, *conveyor.Client, *sql.DB, func(), error) {
	table, err := r.table()
	if err != nil {
		return table, nil, nil, nil, err
	}
	c, closeClient, err := r.client()
	if err != nil {
		closeClient()
		return table, nil, nil, nil, err
	}
	db, err := sql.Open(r.System.Driver(), r.DSN)
	if err != nil {
		closeClient()
		return table, nil, nil, nil, err
	}
	return table, c, db, func() { closeClient(); _ = db.Close() }, nil
}

// process is one that a test started.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

// roleOn is a role with a database, and a namespace of the shared store.
func roleOn(db *sqltest.Database, s *store, name string) role {
	return role{Name: name, System: db.System, DSN: db.DSN, Redis: s.server.Options().Addr, Namespace: s.Namespace()}
}

// begin starts a process, which ends with the test at the latest.
func begin(tb testing.TB, r role) *process {
	tb.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envProcess+"="+string(text))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &process{cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
	tb.Cleanup(p.kill)
	return p
}

// kill ends a process as a crash would; a dead one is no error.
func (p *process) kill() {
	_ = p.stdin.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// wait waits until it has ended by itself, and tells how: nil, an exit code or a signal.
func (p *process) wait() error { return p.cmd.Wait() }

// stop ends it in order.
func (p *process) stop(tb testing.TB) {
	tb.Helper()
	_ = p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		tb.Error(err)
	}
}

// die ends this process as a crash would.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it arrives
}
