//go:build unix

package bridge

import (
	"fmt"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// groupJobs is how many jobs a group of the mixed pool has: three of ours, and of a client's a root, its child and its heir, and what the
// root's handler makes.
const groupJobs = 8

// TestMixedProcesses has processes work on one queue: bridges, workers of the fleet and one of ours. Jobs come from us and from a client of
// the fleet, with children and heirs, and from inside handlers. Processes of each kind end by SIGKILL all the while: bridges and our worker
// wherever they are; workers of the fleet inside handlers, since what they have popped and not registered is lost by them. Each job
// runs, and nothing is left.
func TestMixedProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	open := map[string]bool{}
	var ours []string
	for i := range *poolJobs / groupJobs {
		root, child, heir := fmt.Sprint("root-", i), fmt.Sprint("child-", i), fmt.Sprint("heir-", i)
		jobs := []*wire.Job{job(heir, after(root)), job(child, below(root)), job(root)}
		for _, j := range jobs {
			j.RetryPolicy = &wire.RetryPolicy{MaxLost: new(int32)} // workers that are killed again and again spend none
			ours, open[j.GetUuid()] = append(ours, j.GetUuid()), true
		}
		r.add(jobs...)
		above := fmt.Sprint("their-root-", i)
		r.enqueue(theirs(fmt.Sprint("their-heir-", i), heirOf(above)), theirs(fmt.Sprint("their-child-", i), childOf(above)),
			theirs(above, func(j *wire.Job) { j.Payload = []byte(makesMore) }))
		for _, name := range []string{"their-heir-", "their-child-"} {
			open[fmt.Sprint(name, i)] = true
		}
		for _, uuid := range []string{above, above + "-made", above + "-made-heir"} {
			open[uuid] = true
		}
	}

	started := 0
	start := func(name string, life int) *process {
		started++
		return begin(t, role{Name: name, URL: r.server.URL(), Namespace: r.client.Namespace(), ID: fmt.Sprint(name, "-", started), Life: life})
	}
	bridges := []*process{start("bridge", 0), start("bridge", 0)}
	fleet := []*process{start("theirs", 20), start("theirs", 35)}
	worker := start("ours", 0)
	kills := 0
	for runs := 0; len(open) > 0; runs++ {
		ran, err := r.rdb.BRPop(r.ctx, 0, ranList).Result()
		if err != nil {
			t.Fatal(err)
		}
		delete(open, ran[1])
		if runs%15 == 14 {
			i := kills % len(bridges)
			bridges[i].kill()
			bridges[i] = start("bridge", 0)
			kills++
		}
		if runs%150 == 75 {
			worker.kill()
			worker = start("ours", 0)
			kills++
		}
		for i, p := range fleet {
			select {
			case <-p.ended:
				fleet[i] = start("theirs", 20+10*(kills%5))
				kills++
			default:
			}
		}
	}
	statuses, err := r.client.Wait(r.ctx, ours...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statuses {
		if s.State != conveyor.StateCompleted {
			t.Errorf("%s is %s", s.UUID, s.State)
		}
	}
	for _, p := range append(bridges, worker) {
		p.stop(t)
	}
	for _, p := range fleet {
		p.kill() // one may have killed itself already
	}
	r.drain()
	t.Logf("%d kills", kills)
}

// drain has one bridge and one worker of the fleet go on until nothing of the jobs is left.
func (r *rig) drain() {
	r.Helper()
	b, w := r.bridge("last", fromClients), r.worker("last")
	for range 100 {
		r.pass(conveyorstand.Silence)
		r.must(w.Beat(r.ctx))
		r.must(w.Pump(r.ctx))
		r.must(w.PushBack(r.ctx))
		r.round(b)
		r.work(w)
		r.hear(b)
		keys, err := r.rdb.Keys(r.ctx, "conv:*").Result()
		r.must(err)
		if len(keys) == 1 && keys[0] == conveyorstand.ActiveWorkers {
			break
		}
	}
	r.verify()
	r.wantTheirs()
}
