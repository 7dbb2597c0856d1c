package conveyor_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// The subtests of this package are numbered as the behaviours in the seeds of the specification: part A, item, letter.

func TestAddInput(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A1a nil is an error and writes nothing", func(e *engine) {
			if err := e.Add(e.Context(), nil); !errors.Is(err, conveyor.ErrNilJob) {
				e.Errorf("got %v", err)
			}
			e.wantKeys()
		})
		e.Behaviour("A2a invalid input has distinct errors and writes nothing", func(e *engine) {
			for _, row := range []struct {
				name string
				job  *wire.Job
				want error
			}{
				{"queue", &wire.Job{Type: "t"}, conveyor.ErrQueueName},
				{"queue with colon", &wire.Job{Type: "t", Queue: "a:b"}, conveyor.ErrQueueName},
				{"queue with braces", &wire.Job{Type: "t", Queue: "{a}"}, conveyor.ErrQueueName},
				{"type", &wire.Job{Queue: "q"}, conveyor.ErrTypeName},
				{"uuid", job("a b"), conveyor.ErrUUID},
				{"long uuid", job(strings.Repeat("x", 129)), conveyor.ErrUUID},
				{"priority", job("a", lane(3)), conveyor.ErrPriority},
				{"negative priority", job("a", lane(-1)), conveyor.ErrPriority},
				{"payload", &wire.Job{Type: "t", Queue: "q", Payload: make([]byte, conveyor.MaxPayload+1)}, conveyor.ErrTooLarge},
				{"time", &wire.Job{Type: "t", Queue: "q", RunAt: &timestamppb.Timestamp{Nanos: -1}}, conveyor.ErrTime},
				{"edge to itself", job("a", under("a")), conveyor.ErrEdge},
				{"edge without uuid", job("a", under("")), conveyor.ErrEdge},
				{"parent and predecessor at once", job("a", under("p"), after(0, "p")), conveyor.ErrEdge},
				{"edge named twice", job("a", under("p", "p")), conveyor.ErrEdge},
				{"group with two policies", job("a", edge(&wire.Edge{Kind: 1, Uuid: "p"}), edge(&wire.Edge{Kind: 1, Uuid: "r", RunIf: 1})), conveyor.ErrEdge},
				{"not marshallable", &wire.Job{Type: "\xff", Queue: "q"}, conveyor.ErrMarshal},
			} {
				if err := e.Add(e.Context(), row.job); !errors.Is(err, row.want) {
					e.Errorf("%s: got %v, want %v", row.name, err, row.want)
				}
			}
			e.wantKeys()
		})
		e.Behaviour("A2b all that is wrong is told at once", func(e *engine) {
			err := e.Add(e.Context(), &wire.Job{})
			if !errors.Is(err, conveyor.ErrQueueName) || !errors.Is(err, conveyor.ErrTypeName) {
				e.Errorf("got %v", err)
			}
		})
		e.Behaviour("A2c a cancelled context gives its error and writes nothing", func(e *engine) {
			ctx, cancel := context.WithCancelCause(e.Context())
			cause := errors.New("enough")
			cancel(cause)
			if err := e.Add(ctx, job("a")); !errors.Is(err, cause) {
				e.Errorf("got %v", err)
			}
			e.wantKeys()
		})
		e.Behaviour("A1b an empty uuid is generated, visible to the caller and in the stored bytes", func(e *engine) {
			j := job("")
			e.add(j)
			if len(j.Uuid) != 36 || e.list("queue:q")[0].Uuid != j.Uuid {
				e.Errorf("uuid %q, stored %v", j.Uuid, e.list("queue:q"))
			}
			e.take(j.Uuid)
		})
		e.Behaviour("A1c a given uuid is kept, and 128 characters are fine", func(e *engine) {
			long := strings.Repeat("u", 128)
			e.add(job("mine"), job(long))
			e.reserves("mine", long)
		})
	})
}

// Check tells what Add would, of jobs that stay as they are.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		jobs []*wire.Job
		want error
	}{
		{"good", []*wire.Job{job(""), job("a")}, nil},
		{"none", nil, nil},
		{"nil", []*wire.Job{job(""), nil}, conveyor.ErrNilJob},
		{"queue", []*wire.Job{{Type: "t"}}, conveyor.ErrQueueName},
		{"edge", []*wire.Job{job("a", under("a"))}, conveyor.ErrEdge},
		{"emitted", []*wire.Job{{Type: "t", Queue: "q", Tick: "1"}}, conveyor.ErrEmitted},
		{"not marshallable", []*wire.Job{{Type: "\xff", Queue: "q"}}, conveyor.ErrMarshal},
		{"family", []*wire.Job{{Uuid: "t", Type: "t", Queue: "q", Schedule: &wire.Schedule{Every: "day"}}, job("a", under("t"))}, conveyor.ErrBelowTemplate},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var before []*wire.Job
			for _, j := range row.jobs {
				before = append(before, proto.CloneOf(j))
			}
			if err := conveyor.Check(row.jobs...); !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
			if diff := cmp.Diff(before, row.jobs, protocmp.Transform()); diff != "" {
				t.Errorf("Check changed a job (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAddPlaces(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A3a a plain job is one LPUSH of the marshalled job", func(e *engine) {
			j := job("plain", func(j *wire.Job) { j.Payload, j.MaxRetries = bytes.Repeat([]byte("x"), 1000), 2 })
			e.add(j)
			if diff := cmp.Diff([]*wire.Job{j}, e.list("queue:q"), protocmp.Transform()); diff != "" {
				e.Error(diff)
			}
			e.wantKeys("queue:q")
			e.run("plain", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Behaviour("A3b the lanes have lists of their own, higher first", func(e *engine) {
			e.add(job("low", lane(0)), job("normal", lane(1)), job("high", lane(2)), job("default"))
			e.wantKeys("queue:q", "queue:q:0", "queue:q:2")
			for _, r := range e.reserves("high", "normal", "default", "low") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("A3c under a living parent a job is only in the parent's children list", func(e *engine) {
			e.add(job("p"))
			j := job("c", func(j *wire.Job) { j.ParentUuid = "p" })
			e.add(j)
			e.wantKeys("queue:q", "jobs:p:children")
			if diff := cmp.Diff([]*wire.Job{j}, e.list("jobs:p:children"), protocmp.Transform()); diff != "" {
				e.Error(diff)
			}
			e.run("p", conveyor.VerdictDone)
			e.run("c", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Behaviour("A3d with a predecessor a job is only in its onComplete list", func(e *engine) {
			e.add(job("p2"), job("h", func(j *wire.Job) { j.PredecessorUuid = "p2" }))
			e.wantKeys("queue:q", "jobs:p2:onComplete")
			e.run("p2", conveyor.VerdictDone)
			e.run("h", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Behaviour("A3e with both, it is released only when both edges are satisfied", func(e *engine) {
			both := func(uuid string) *wire.Job {
				return job(uuid, func(j *wire.Job) { j.ParentUuid, j.PredecessorUuid = "pa", "pr" })
			}
			e.add(job("pa"), job("pr"), both("b1"))
			e.wantKeys("queue:q", "jobs:pa:children", "jobs:pr:onComplete", "jobs:b1")
			rs := e.reserves("pa", "pr")
			e.end(rs[0], conveyor.VerdictDone)
			e.states("pa closing, b1 held")
			if !e.active("pa", "b1") {
				e.Error("b1 must hold its parent open while it waits for its predecessor")
			}
			e.nothing()
			e.end(rs[1], conveyor.VerdictDone)
			e.run("b1", conveyor.VerdictDone)
			e.states("pa completed, pr completed, b1 completed")
			e.wantKeys()
		})
		e.Behaviour("A3f a dead parent's child uses neither held list", func(e *engine) {
			dead := func(j *wire.Job) { j.ParentUuid, j.PredecessorUuid = "gone", "gone2" }
			e.ok(e.Add(e.Context(), job("d1", dead), conveyor.ParentDead()))
			e.wantKeys("queue:q", "jobs:gone:active")
			e.run("d1", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Behaviour("A5a released by its time, it is in the parent's active set and in the queue", func(e *engine) {
			e.ok(e.Add(e.Context(), job("d2", under("gone"), runAt(e.now+1000)), conveyor.ParentDead()))
			e.wantKeys("scheduled")
			e.pass(time.Second)
			e.exchange(0)
			e.wantKeys("queue:q", "jobs:gone:active")
			if !e.active("gone", "d2") {
				e.Error("d2 is not active")
			}
			e.run("d2", conveyor.VerdictDone)
			e.wantKeys()
		})
	})
}

func TestAddTimes(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A4a run_at ahead goes to scheduled, with its fraction as score", func(e *engine) {
			j := job("s", func(j *wire.Job) { j.RunAt = timestamppb.New(time.UnixMilli(e.now + 1500).Add(time.Nanosecond)) })
			e.add(j)
			e.wantKeys("scheduled")
			z, err := e.rdb.ZRangeWithScores(e.Context(), e.key("scheduled"), 0, -1).Result()
			e.ok(err)
			stored := &wire.Job{}
			e.ok(proto.Unmarshal([]byte(z[0].Member.(string)), stored))
			if diff := cmp.Diff(j, stored, protocmp.Transform()); diff != "" || z[0].Score != float64(e.now+1501)/1000 {
				e.Errorf("score %f %s", z[0].Score, diff)
			}
		})
		e.Behaviour("A4b never before its time", func(e *engine) {
			e.add(job("s", func(j *wire.Job) { j.RunAt = timestamppb.New(time.UnixMilli(e.now + 1500).Add(time.Nanosecond)) }))
			e.pass(1500 * time.Millisecond)
			e.nothing()
			e.pass(time.Millisecond)
			e.run("s", conveyor.VerdictDone)
		})
		e.Behaviour("A4c past or now is queued at once", func(e *engine) {
			e.add(job("past", runAt(e.now-1)), job("now", runAt(e.now)))
			e.states("past queued, now queued")
			for _, r := range e.reserves("past", "now") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("A4d first the parent, then the time, and the parent stays open", func(e *engine) {
			e.add(job("p"), job("c", under("p"), runAt(e.now+5000)), job("h", after(0, "p")))
			e.run("p", conveyor.VerdictDone)
			e.states("p closing, c scheduled, h held")
			e.nothing()
			e.pass(5 * time.Second)
			e.run("c", conveyor.VerdictDone)
			e.states("p completed, c completed, h queued")
			e.run("h", conveyor.VerdictDone)
		})
		e.Behaviour("A4e after counts from the moment all edges are satisfied", func(e *engine) {
			e.add(job("u"), job("v", after(0, "u"), delayed(3*time.Second)), job("w", delayed(time.Second)))
			e.pass(time.Second)
			rs := e.reserves("u", "w")
			e.end(rs[0], conveyor.VerdictDone)
			e.end(rs[1], conveyor.VerdictDone)
			if got := e.status("v").DueAt.UnixMilli(); got != e.now+3000 {
				e.Errorf("due %d, want %d", got, e.now+3000)
			}
			e.pass(3 * time.Second)
			e.run("v", conveyor.VerdictDone)
		})
		e.Behaviour("A4f jobs of one instant start in the order they were added", func(e *engine) {
			e.add(job("z", runAt(e.now+1000)), job("y", runAt(e.now+1000)), job("x", runAt(e.now+500)))
			e.pass(2 * time.Second)
			for _, r := range e.reserves("x", "z", "y") {
				e.end(r, conveyor.VerdictDone)
			}
		})
	})
}

func TestAddLate(t *testing.T) {
	over := func(e *engine) {
		e.Helper()
		e.add(job("done"), job("bad"), job("bad2"))
		e.run("done", conveyor.VerdictDone)
		e.run("bad", conveyor.VerdictFailed)
		e.run("bad2", conveyor.VerdictFailed)
	}
	onBoth(t, func(e *engine) {
		e.Behaviour("A9a under a finished upstream the edge counts as satisfied", func(e *engine) {
			over(e)
			e.add(job("c", under("done")), job("h", after(0, "done")))
			for _, r := range e.reserves("c", "h") {
				e.end(r, conveyor.VerdictDone)
			}
			e.states("done completed")
		})
		e.Behaviour("A9b under a failed one it is judged by its outcome", func(e *engine) {
			over(e)
			e.add(job("fc", under("bad")), job("fh", after(wire.Edge_SUCCESS, "bad")), job("ff", after(wire.Edge_FAILURE, "bad")),
				job("fa", after(wire.Edge_ALWAYS, "bad", "bad2")))
			e.states("fc skipped, fh skipped, ff queued, fa queued")
			for _, r := range e.reserves("ff", "fa") {
				e.end(r, conveyor.VerdictDone)
			}
		})
		e.Behaviour("A9c under an id never seen it is held as an orphan until that comes", func(e *engine) {
			e.add(job("o1", under("later")), job("o2", after(0, "later")))
			e.states("o1 held, o2 held")
			e.sound()
			e.add(job("later"))
			e.run("later", conveyor.VerdictDone)
			e.run("o1", conveyor.VerdictDone)
			e.run("o2", conveyor.VerdictDone)
			e.wantKeys()
		})
		e.Behaviour("A9d in strict mode that is an error and nothing is stored", func(e *engine) {
			over(e)
			err := e.AddMany(e.Context(), []*wire.Job{job("s1"), job("s2", under("never"))}, conveyor.Strict())
			if !errors.Is(err, conveyor.ErrUnknownUpstream) || !strings.Contains(err.Error(), "never") {
				e.Errorf("got %v", err)
			}
			e.states("s1 unknown, s2 unknown")
			e.ok(e.AddMany(e.Context(), []*wire.Job{job("s2", under("s1")), job("s1"), job("s3", after(0, "done"))}, conveyor.Strict()))
			for _, r := range e.reserves("s1", "s3") {
				e.end(r, conveyor.VerdictDone)
			}
			e.run("s2", conveyor.VerdictDone)
		})
		e.Behaviour("A9e adding an existing uuid is a no-op", func(e *engine) {
			over(e)
			e.add(job("c"))
			before := dump(e)
			e.add(job("done"), job("c", queue("elsewhere")))
			if diff := cmp.Diff(before, dump(e)); diff != "" {
				e.Error(diff)
			}
		})
	})
}
