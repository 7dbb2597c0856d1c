package conveyor_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestSearch finds the bytes of jobs in every place where they wait, each of which is more than a page long.
func TestSearch(t *testing.T) {
	onBoth(t, func(e *engine) {
		const n = 120
		at := timestamppb.New(time.UnixMilli(e.now).Add(time.Hour))
		var uuids []string
		var jobs []*wire.Job
		add := func(uuid string, change ...func(*wire.Job)) {
			j := job(uuid, change...)
			j.Payload = []byte("of " + uuid)
			uuids, jobs = append(uuids, uuid), append(jobs, j)
		}
		later := func(j *wire.Job) { j.RunAt = at }
		high := func(j *wire.Job) { j.Priority = new(int32); *j.Priority = 2 }
		add("parent")
		for i := range n {
			add(fmt.Sprint("queued", i))
			add(fmt.Sprint("high", i), high)
			add(fmt.Sprint("later", i), later)
			add(fmt.Sprint("child", i), under("parent"))
			add(fmt.Sprint("heir", i), after(wire.Edge_SUCCESS, "parent"))
		}
		add("several", under("parent"), after(wire.Edge_SUCCESS, "queued1"))
		for _, j := range jobs {
			e.add(j)
		}
		e.add(job("never", later))
		e.ok(e.Cancel(e.Context(), "never"))
		stored, err := e.GetAll(e.Context(), append(uuids, "never", "unknown"))
		e.ok(err)
		e.ok(e.Search(e.Context(), stored))
		for i, uuid := range uuids {
			if got := string(stored[i].Job.GetPayload()); got != "of "+uuid || stored[i].Job.GetUuid() != uuid {
				e.Errorf("%s, which is %s, has the payload %q", uuid, stored[i].Status.State, got)
			}
		}
		for _, s := range stored[len(uuids):] {
			if s.Job != nil {
				e.Errorf("%s has bytes: %v", s.Status.UUID, s.Job)
			}
		}
		// One that was updated has its bytes elsewhere, and they count.
		e.ok(e.Client.Update(e.Context(), &wire.Job{Uuid: "queued5", Type: "t", Queue: stored[0].Status.Queue, Payload: []byte("new")}))
		stored, err = e.GetAll(e.Context(), []string{"queued5"})
		e.ok(err)
		e.ok(e.Search(e.Context(), stored))
		if got := string(stored[0].Job.GetPayload()); got != "new" {
			e.Errorf("the updated job has the payload %q", got)
		}
	})
}
