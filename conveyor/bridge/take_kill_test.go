package bridge

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor/wire"
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
