package bridge

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// clientsGraph enqueues jobs of all kinds: the root, whose handler makes a child and an heir, has a child and an heir from the start, and
// there is a scheduled one.
func clientsGraph(r *rig) (uuids []string, inside []string) {
	r.Helper()
	r.plan = func(job *wire.Job, run int) error {
		if job.GetUuid() == "root" {
			r.enqueue(theirs("made", childOf("root")), theirs("made-heir", heirOf("root")))
		}
		return failsOnce("child")(job, run)
	}
	r.enqueue(theirs("heir", heirOf("root")), theirs("grandchild", childOf("child")), theirs("child", childOf("root")), theirs("root"),
		theirs("later", func(j *wire.Job) { j.RunAt = timestamppb.New(r.fleet.Now().Add(time.Hour)) }))
	return []string{"root", "child", "grandchild", "heir", "later"}, []string{"made", "made-heir"}
}

// TestClientsBridgeKilledAtEveryStep ends a bridge before each of its calls in turn, while it makes jobs of ours of a client's graph and
// closes them. The next one loses nothing and doubles nothing.
func TestClientsBridgeKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n, hit := 1, true; hit; n++ {
		r.reset()
		uuids, inside := clientsGraph(r)
		w, killed := r.worker("theirs"), r.bridge("1", fromClients)
		step, reached := killedAt(n)
		killed.step = step
		for i := range 8 {
			if _, err := killed.round(r.ctx); errors.Is(err, errKilled) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			killed.looked = time.Time{}
			r.work(w)
			r.hear(killed)
			r.pass(3 * time.Second)
			if i == 5 {
				r.pass(time.Hour)
			}
		}
		hit = reached()
		r.pass(time.Hour) // a reservation that was never handed over is over
		r.finished(r.bridge("2", fromClients), w, uuids...)
		for _, uuid := range uuids {
			want := 1
			if uuid == "child" {
				want = 2
			}
			if r.status(uuid).State.String() != "completed" || r.runs[uuid] != want {
				t.Errorf("%s is %s after %d runs, want completed after %d", uuid, r.status(uuid).State, r.runs[uuid], want)
			}
		}
		for _, uuid := range inside {
			if r.runs[uuid] != 1 {
				t.Errorf("%s ran %d times, want once", uuid, r.runs[uuid])
			}
		}
		if err := r.rdb.Del(r.ctx, theirFailed).Err(); err != nil { // their copy of the failed run
			t.Fatal(err)
		}
		r.wantTheirs()
		if t.Failed() {
			t.Fatalf("killed at step %d", n)
		}
	}
}

// TestMadeInsideFleetKilledAtEveryStep ends a worker of theirs before each of its commands in turn, while it runs a job of ours whose handler
// makes a child and an heir, and these. What it had in its hands may be lost with it; the job of ours ends all the same.
func TestMadeInsideFleetKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n, hit := 1, true; hit; n++ {
		r.reset()
		r.plan = func(job *wire.Job, _ int) error {
			if job.GetUuid() == "a" {
				r.enqueue(theirs("child", childOf("a")), theirs("heir", heirOf("a")))
			}
			return nil
		}
		r.add(job("a"))
		b, w := r.bridge("1", fromClients), r.worker("killed")
		r.must(w.Beat(r.ctx))
		step, reached := killedAt(n)
		w.Step = func(string) error { return step() }
		for range 4 {
			r.round(b)
			if _, err := w.Once(r.ctx); errors.Is(err, errKilled) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			r.hear(b)
		}
		hit = reached()
		r.pass(conveyorstand.Silence + time.Second)
		other := r.worker("other")
		for range 50 {
			r.must(errors.Join(other.Beat(r.ctx), other.Pump(r.ctx), other.PushBack(r.ctx)))
			r.round(b)
			r.work(other)
			r.hear(b)
			r.pass(3 * time.Second)
			if keys, err := r.rdb.Keys(r.ctx, b.keys.prefix+"*").Result(); err == nil && len(keys) == 0 {
				break
			}
		}
		if s := r.status("a").State; !s.Ended() {
			t.Errorf("a is %s", s)
		}
		if text, err := r.client.Failure(r.ctx, "a"); err != nil || text != "" && text != "child child failed: the fleet lost it" {
			t.Errorf("failure %q, %v", text, err)
		}
		r.verify()
		if t.Failed() {
			t.Fatalf("killed at step %d", n)
		}
	}
}
