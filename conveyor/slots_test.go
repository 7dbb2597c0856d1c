package conveyor

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// asker is a share with the hints that it got.
type asker struct {
	*share
	hints int
}

func askers(all *slots, n int) []*asker {
	list := make([]*asker, n)
	for i := range list {
		a := &asker{}
		a.share = all.share(func() { a.hints++ })
		list[i] = a
	}
	return list
}

// reserves claims and settles as one call that finds jobs for all it may reserve.
func (a *asker) reserves(n int) int { return a.settle(a.claim(n)) }

func wantGranted(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %d slots, want %d", what, got, want)
	}
}

// TestSlotsArePassedOn: one that is alone has all, and one that comes later gets every slot that comes free until it has as many.
func TestSlotsArePassedOn(t *testing.T) {
	t.Parallel()
	all := newSlots(4)
	two := askers(all, 2)
	a, b := two[0], two[1]
	wantGranted(t, "a alone", a.reserves(10), 4)
	wantGranted(t, "b, all taken", b.reserves(10), 0)
	for i := range 2 {
		a.give()
		if b.hints != i+1 {
			t.Errorf("b was told %d times of a free slot, want %d", b.hints, i+1)
		}
		wantGranted(t, "a, which has more than b that waits", a.reserves(10), 0)
		wantGranted(t, "b, which waits", b.reserves(10), 1)
		wantGranted(t, "b again", b.reserves(10), 0)
	}
	b.give() // both wait and a has more
	wantGranted(t, "b, which has fewer", b.reserves(1), 1)
	b.withdraw()
	a.withdraw()
	a.give()
	wantGranted(t, "a, nobody waits", a.reserves(1), 1)
	if all.free != 0 || a.used+b.used != 4 {
		t.Errorf("%d slots are free, %d and %d used", all.free, a.used, b.used)
	}
}

// TestSlotsInTurn: with more namespaces than slots each gets one in turn, and nobody gets a second one before all had one.
func TestSlotsInTurn(t *testing.T) {
	t.Parallel()
	list := askers(newSlots(2), 12)
	had := make([]int, len(list))
	var running []int
	for i, a := range list {
		if n := a.reserves(5); n > 0 {
			had[i] += n
			for range n {
				running = append(running, i)
			}
		}
	}
	for range 120 {
		ended := running[0]
		running = running[1:]
		list[ended].give()
		for i, a := range list { // whoever was told asks; so does the one whose attempt ended
			if a.hinted || i == ended {
				for range a.reserves(5) {
					had[i]++
					running = append(running, i)
				}
			}
		}
	}
	least, most := had[0], had[0]
	for _, n := range had {
		least, most = min(least, n), max(most, n)
	}
	if len(running) != 2 || most-least > 2 {
		t.Errorf("%d attempts run; starts by namespace: %v", len(running), had)
	}
}

// TestSlotsOfAHangingCall: a call without an answer keeps its slots from others for a moment only. What it has reserved after all gets
// the slots that are free then.
func TestSlotsOfAHangingCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		two := askers(newSlots(3), 2)
		a, b := two[0], two[1]
		wantGranted(t, "a's claim", a.claim(10), 3)
		stop := a.patient()
		wantGranted(t, "b, all claimed", b.reserves(2), 0)
		time.Sleep(claimPatience)
		synctest.Wait()
		if b.hints != 1 {
			t.Error("b was not told that the claim lapsed")
		}
		wantGranted(t, "b", b.reserves(2), 2)
		stop()
		wantGranted(t, "a's call reserved two", a.settle(2), 1)
		a.give()
		wantGranted(t, "a's next call, in time", a.claim(10), 1)
		stop = a.patient()
		stop()
		time.Sleep(2 * claimPatience)
		wantGranted(t, "its claim held", a.settle(1), 1)
		a.leave()
		a.give()
		if n := len(a.all.shares); n != 1 {
			t.Errorf("%d shares after one has left and its attempts have ended", n)
		}
	})
}

// TestSlotsOfALostReply: what a call reserved whose answer comes late, when others have its slots, runs as far as there are slots. The
// rest goes back to its place.
func TestSlotsOfALostReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, all, away := newFakeStore(), newSlots(2), true
		f.fail = func(call string, done bool) error {
			if call == "exchange" && done && away {
				return ErrUnavailable
			}
			return nil
		}
		f.put(numbered(1), numbered(2))
		w := fakeWorker(t, f, WorkerOptions{Concurrency: 2})
		w.share = all.share(func() { hint(w.readyHint) })
		var ran []string
		w.HandleRaw("t", func(_ context.Context, job *wire.Job) error { ran = append(ran, job.GetUuid()); return nil })
		stop := running(t, w)
		elapse(2 * claimPatience)
		other := askers(all, 1)[0]
		wantGranted(t, "another namespace", other.reserves(1), 1)
		f.look(func() { away = false })
		elapse(DeadAfter)
		if err := stop(); err != nil {
			t.Error(err)
		}
		verdicts := map[string]Verdict{}
		for _, a := range f.acks {
			verdicts[a.UUID] = a.Verdict
		}
		want := map[string]Verdict{"u1": VerdictDone, "u2": VerdictBack}
		if diff := cmp.Diff(want, verdicts); diff != "" || !slices.Equal(ran, []string{"u1"}) {
			t.Errorf("ran %v; verdicts (-want +got):\n%s", ran, diff)
		}
		if other.give(); all.free != 2 {
			t.Errorf("%d of 2 slots are free at the end", all.free)
		}
	})
}
