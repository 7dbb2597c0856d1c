package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor/wire"
	ordersv1 "github.com/waybill-dev/waybill/examples/conveyor-fleet/protos/orders/v1"
	"github.com/waybill-dev/waybill/internal/cli"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
	"github.com/waybill-dev/waybill/internal/redistest"
)

type suite struct{ m *testing.M }

func (s suite) Run() int { return redistest.Run(s.m) }

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"waybill": func() {
		interrupts := make(chan os.Signal, 8)
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
		os.Exit(cli.Run(cli.Process{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Interrupts: interrupts}))
	}})
}

const queues = "orders.v1.Order,orders.v1.Invoice,orders.v1.Reminder"

// move is a team on its way: a copy of the example, and a Redis with a fleet.
type move struct {
	*testing.T
	dir   string
	env   []string
	url   string
	fleet *conveyorstand.Fleet
}

func newMove(t *testing.T) *move {
	m := &move{T: t, dir: t.TempDir(), url: redistest.StartTCP(t).URL()}
	if err := os.CopyFS(m.dir, os.DirFS("..")); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	m.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "CI=true", "WAYBILL_REDIS="+m.url)
	o, err := redis.ParseURL(m.url)
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	m.fleet = &conveyorstand.Fleet{Redis: rdb}
	return m
}

// waybill runs a command on the example; it has to say each of wants.
func (m *move) waybill(args []string, wants ...string) {
	m.Helper()
	c := exec.Command("waybill", append(args, m.dir)...)
	c.Env = m.env
	said, err := c.CombinedOutput()
	if err != nil {
		m.Fatalf("waybill %s: %v\n%s", strings.Join(args, " "), err, said)
	}
	m.Logf("waybill %s\n%s", strings.Join(args, " "), said)
	for _, want := range wants {
		if !strings.Contains(string(said), want) {
			m.Errorf("waybill %s does not say %q:\n%s", strings.Join(args, " "), want, said)
		}
	}
}

// bridge runs a bridge until stop is called. Its lines come in told.
func (m *move) bridge(args ...string) (told <-chan string, stop func()) {
	m.Helper()
	c := exec.Command("waybill", append(append([]string{"bridge", "conveyor", "-json", "-from-clients", "-queues", queues}, args...), m.dir)...)
	c.Env = m.env
	out, err := c.StdoutPipe()
	if err != nil {
		m.Fatal(err)
	}
	c.Stderr = m.Output()
	if err := c.Start(); err != nil {
		m.Fatal(err)
	}
	lines := make(chan string, 1000) // more than any test has
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines, func() {
		_ = c.Process.Signal(os.Interrupt)
		for range lines { // to the end
		}
		if err := c.Wait(); err != nil {
			m.Errorf("the bridge: %v", err)
		}
	}
}

// await reads lines until each of wants was in one.
func (m *move) await(told <-chan string, wants ...string) {
	m.Helper()
	timeout := time.After(time.Minute)
	for len(wants) > 0 {
		select {
		case line, ok := <-told:
			if !ok {
				m.Fatalf("the bridge ended before it told %q", wants)
			}
			wants = slices.DeleteFunc(wants, func(want string) bool { return strings.Contains(line, want) })
		case <-timeout:
			m.Fatalf("the bridge did not tell %q", wants)
		}
	}
}

// enqueue has a program of the team add a job, and gives its uuid.
func (m *move) enqueue(message proto.Message, change func(*wire.Job)) string {
	m.Helper()
	name := string(message.ProtoReflect().Descriptor().FullName())
	payload, err := proto.Marshal(message)
	if err != nil {
		m.Fatal(err)
	}
	job := &wire.Job{Uuid: uuid.NewString(), Type: name, Queue: name, Payload: payload, MaxRetries: 3}
	change(job)
	if err := m.fleet.Add(m.Context(), job, false); err != nil {
		m.Fatal(err)
	}
	return job.GetUuid()
}

// TestMigration walks the page: a fleet that runs, its queued, scheduled and held jobs taken into addresses, workers of ours in its place.
func TestMigration(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	plain := func(*wire.Job) {}
	remindAt := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	remind := "-var=remind_at=" + remindAt.Format(time.RFC3339)

	// The fleet works on an order; the next one is queued behind it, its invoice waits for it, and a reminder for its time.
	started, goOn, theirs := make(chan string, 10), make(chan struct{}), make(chan error, 1)
	worker := &conveyorstand.Worker{Fleet: m.fleet, ID: "theirs", Queues: strings.Split(queues, ","), Handle: func(ctx context.Context, job *wire.Job) error {
		started <- job.GetUuid()
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return nil
	}}
	ctx, endFleet := context.WithCancel(t.Context())
	defer endFleet()
	go func() { theirs <- worker.Run(ctx, 100*time.Millisecond) }()
	busy := m.enqueue(&ordersv1.Order{Number: "A-1000"}, plain)
	if got := <-started; got != busy {
		t.Fatalf("the fleet runs %s", got)
	}
	order := m.enqueue(&ordersv1.Order{Number: "A-1001", Lines: []*ordersv1.Order_Line{{Sku: "lamp", Pieces: 2}, {Sku: "bulb", Pieces: 3}}}, plain)
	invoice := m.enqueue(&ordersv1.Invoice{Order: "A-1001", Cents: 15900, Currency: "EUR"}, func(j *wire.Job) { j.ParentUuid = order })
	reminder := m.enqueue(&ordersv1.Reminder{Order: "A-1001"}, func(j *wire.Job) { j.RunAt = timestamppb.New(remindAt) })

	told, stop := m.bridge("-capacity=0")
	m.await(told, `"taken","uuid":"`+order, `"taken","uuid":"`+invoice, `"taken","uuid":"`+reminder)
	m.waybill([]string{"job", "show", order}, "(protobuf, orders.v1.Order", `"sku" = "lamp"`)
	m.waybill([]string{"job", "show", invoice}, "(protobuf, orders.v1.Invoice", `"cents" = 15900`)

	imports := ""
	for name, id := range map[string]string{"order": order, "invoice": invoice, "reminder": reminder} {
		imports += fmt.Sprintf("import {\n  to = job.%s\n  id = %q\n}\n", name, id)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "imports.hcl"), []byte(imports), 0o600); err != nil {
		t.Fatal(err)
	}
	// One number in the files is not what was enqueued: the plan says so, as a field.
	m.waybill([]string{"plan", "-no-color", remind}, "Plan: 3 to import, 0 to add, 3 to change, 0 to destroy.", "pieces = 3 -> 4")
	m.waybill([]string{"apply", "-auto-approve", "-detach", remind}, "3 imported")
	m.waybill([]string{"plan", "-detailed-exitcode", remind}, "No changes.")
	if err := os.Remove(filepath.Join(m.dir, "imports.hcl")); err != nil {
		t.Fatal(err)
	}
	m.waybill([]string{"plan", "-detailed-exitcode", remind}, "No changes.")

	// The fleet goes on with them: what is declared now runs there, in its order.
	stop()
	told, stop = m.bridge()
	close(goOn)
	m.await(told, `"completed","uuid":"`+order, `"completed","uuid":"`+invoice)
	for _, want := range []string{order, invoice} {
		if got := <-started; got != want {
			t.Errorf("the fleet ran %s, want %s", got, want)
		}
	}
	stop()

	// The fleet goes, and a worker of ours is there. What clients of the fleet enqueue from now on is run by it as well.
	endFleet()
	if err := <-theirs; err != nil {
		t.Error(err)
	}
	told, stop = m.bridge("-capacity=0")
	var out bytes.Buffer // of our worker, which has ended when it is read
	ctx, endWorker := context.WithCancel(t.Context())
	defer endWorker()
	ours := make(chan error, 1)
	go func() { ours <- run(ctx, []string{m.url}, &out) }()
	m.waybill([]string{"apply", "-auto-approve", "-var=remind_at=2026-01-01T00:00:00Z"}, "Apply complete!", "job.reminder: Completed")
	last := m.enqueue(&ordersv1.Order{Number: "A-1002"}, plain)
	m.await(told, `"closed","uuid":"`+reminder, `"closed","uuid":"`+last)
	stop()
	endWorker()
	if err := <-ours; err != nil {
		t.Error(err)
	}
	ran := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(ran)
	want := []string{"packed A-1002: 0 lines", "reminded of A-1001"}
	if !slices.Equal(ran, want) {
		t.Errorf("our worker ran %q, want %q", ran, want)
	}
	if more := len(started); more > 0 {
		t.Errorf("the fleet ran %d more", more)
	}
	left, err := m.fleet.Redis.Keys(t.Context(), "conv:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	left = slices.DeleteFunc(left, func(key string) bool { return key == conveyorstand.ActiveWorkers })
	if len(left) > 0 {
		t.Errorf("on their side there are %q", left)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"nowhere://x"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
