package conveyor_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// state is a sync with one value.
func state(v string) map[string]string { return map[string]string{"x.io/latest": v} }

func synced(s map[string]string) func(*wire.Job) { return func(j *wire.Job) { j.Sync = s } }

// leaves is an acknowledgement that leaves this for the next execution.
func leaves(r conveyor.Reservation, verdict conveyor.Verdict, s map[string]string) conveyor.Ack {
	a := ack(r, verdict)
	a.Sync = s
	return a
}

// carries wants what the next execution of a job gets; "" is nothing.
func (e *engine) carries(uuid, want string) {
	e.Helper()
	got, err := e.Sync(e.Context(), uuid)
	e.ok(err)
	if got["x.io/latest"] != want || len(got) > 1 || want == "" && len(got) > 0 {
		e.Errorf("%s carries %v, want %q", uuid, got, want)
	}
}

// gets reserves a job and wants its execution to get this.
func (e *engine) gets(uuid, want string) conveyor.Reservation {
	e.Helper()
	r := e.take(uuid)
	if r.Sync["x.io/latest"] != want || want == "" && r.Sync != nil {
		e.Errorf("%s gets %v, want %q", uuid, r.Sync, want)
	}
	return r
}

// occurrence puts a template into the store and makes an occurrence of a job, as the scripts that emit do.
func (e *engine) occurrence(uuid, template string) {
	e.Helper()
	ctx := e.Context()
	e.ok(e.rdb.HSet(ctx, e.key("status"), template, "t1s|q|").Err())
	e.add(job(uuid, synced(state("first"))))
	entry := e.rdb.HGet(ctx, e.key("status"), uuid).Val()
	e.ok(e.rdb.HSet(ctx, e.key("status"), uuid, entry+"|C1500:"+template).Err())
	e.ok(e.rdb.HSet(ctx, e.key("sync"), template, "x.io/latest=first").Err())
}

// forget takes what occurrence made out again, so that Verify need not know of templates.
func (e *engine) forget(uuid, template string) {
	e.Helper()
	e.ok(e.rdb.HDel(e.Context(), e.key("status"), template).Err())
	e.ok(e.rdb.HDel(e.Context(), e.key("sync"), template).Err())
	e.ok(e.rdb.Del(e.Context(), e.key("history:"+template)).Err())
	entry := e.rdb.HGet(e.Context(), e.key("status"), uuid).Val()
	e.ok(e.rdb.HSet(e.Context(), e.key("status"), uuid, strings.Replace(entry, "|C1500:"+template, "", 1)).Err())
}

func TestSync(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("C8f a job puts itself back with new sync instead of ending, at once or after a time", func(e *engine) {
			e.add(job("a", synced(state("0"))))
			e.exchange(0, leaves(e.gets("a", "0"), conveyor.VerdictDefer, state("1")))
			e.states("a queued")
			second := leaves(e.gets("a", "1"), conveyor.VerdictDefer, state("2"))
			second.Delay = time.Minute
			e.exchange(0, second)
			e.nothing()
			e.pass(time.Minute)
			e.exchange(0, leaves(e.gets("a", "2"), conveyor.VerdictDefer, nil)) // as it was
			e.exchange(0, leaves(e.gets("a", "2"), conveyor.VerdictDone, state("3")))
			e.states("a completed")
			e.carries("a", "3")
			if s := e.status("a"); s.Attempts != 0 || s.Fence != 4 {
				e.Errorf("%d attempts, fence %d", s.Attempts, s.Fence)
			}
		})
		e.Behaviour("C8g a failed attempt leaves nothing", func(e *engine) {
			e.add(job("a", synced(state("0"))))
			for _, verdict := range []conveyor.Verdict{conveyor.VerdictRetry, conveyor.VerdictBack, conveyor.VerdictNoHandler, conveyor.VerdictHold} {
				e.exchange(0, leaves(e.gets("a", "0"), verdict, state("lost")))
				e.carries("a", "0")
			}
			e.ok(e.Release(e.Context(), "a"))
			e.exchange(0, leaves(e.gets("a", "0"), conveyor.VerdictFailed, state("lost")))
			e.carries("a", "0")
			e.ok(e.Retry(e.Context(), "a"))
			e.exchange(0, leaves(e.gets("a", "0"), conveyor.VerdictDone, nil))
			e.carries("a", "0")
		})
		e.Behaviour("C8h what an occurrence stores reaches its template with the acknowledgement", func(e *engine) {
			e.occurrence("o", "t")
			e.exchange(0, leaves(e.gets("o", "first"), conveyor.VerdictDefer, state("paged")))
			e.carries("o", "paged")
			e.carries("t", "first")
			e.exchange(0, leaves(e.gets("o", "paged"), conveyor.VerdictRetry, state("lost")))
			e.carries("t", "first")
			e.exchange(0, leaves(e.gets("o", "paged"), conveyor.VerdictDone, state("last")))
			e.carries("t", "last")
			e.forget("o", "t")
		})
		e.Behaviour("what an occurrence left when it came back reaches its template too", func(e *engine) {
			e.occurrence("o", "t")
			e.exchange(0, leaves(e.take("o"), conveyor.VerdictDefer, state("paged")))
			e.exchange(0, leaves(e.take("o"), conveyor.VerdictDone, nil))
			e.carries("t", "paged")
			e.forget("o", "t")
		})
		e.Behaviour("an occurrence that leaves nothing takes nothing from its template", func(e *engine) {
			e.occurrence("o", "t")
			r := e.take("o")
			e.ok(e.rdb.HSet(e.Context(), e.key("sync"), "t", "x.io/latest=newer").Err())
			e.exchange(0, leaves(r, conveyor.VerdictDone, nil))
			e.carries("t", "newer")
			e.forget("o", "t")
		})
		e.Behaviour("an occurrence can clear what its template carries", func(e *engine) {
			e.occurrence("o", "t")
			e.exchange(0, leaves(e.take("o"), conveyor.VerdictDone, map[string]string{}))
			e.carries("t", "")
			if entry := e.rdb.HGet(e.Context(), e.key("status"), "t").Val(); entry != "t1|q|" {
				e.Errorf("the template is %q", entry)
			}
			e.forget("o", "t")
		})
		e.Behaviour("and give some to one that carries nothing", func(e *engine) {
			e.occurrence("o", "t")
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "t", "t1|q|").Err())
			e.ok(e.rdb.HDel(e.Context(), e.key("sync"), "t").Err())
			e.exchange(0, leaves(e.take("o"), conveyor.VerdictDone, state("1")))
			e.carries("t", "1")
			if entry := e.rdb.HGet(e.Context(), e.key("status"), "t").Val(); entry != "t1s|q|" {
				e.Errorf("the template is %q", entry)
			}
			e.forget("o", "t")
		})
		for name, entry := range map[string]string{"a template that is gone gets nothing": "", "nor does a job that is none": "H1|q|"} {
			e.Behaviour(name, func(e *engine) {
				e.occurrence("o", "t")
				r := e.take("o")
				e.ok(e.rdb.HDel(e.Context(), e.key("status"), "t").Err())
				e.ok(e.rdb.HDel(e.Context(), e.key("sync"), "t").Err())
				if entry != "" {
					e.ok(e.rdb.HSet(e.Context(), e.key("status"), "t", entry).Err())
				}
				e.exchange(0, leaves(r, conveyor.VerdictDone, state("1")))
				e.carries("t", "")
				e.forget("o", "t")
			})
		}
		e.Behaviour("a cancelled job does not come back, and leaves nothing", func(e *engine) {
			e.add(job("a", synced(state("0"))), job("b", synced(state("0"))))
			a, b := e.take("a"), e.take("b")
			e.ok(e.Cancel(e.Context(), "a"))
			e.ok(e.Cancel(e.Context(), "b"))
			e.exchange(0, leaves(a, conveyor.VerdictDefer, state("1")), leaves(b, conveyor.VerdictDone, state("1")))
			e.states("a cancelled, b completed")
			e.carries("a", "0")
			e.carries("b", "1")
		})
		e.Behaviour("a job that is held by its limit keeps what it left", func(e *engine) {
			e.add(job("a", maxCycles(1)))
			e.exchange(0, leaves(e.gets("a", ""), conveyor.VerdictDefer, state("1")))
			e.states("a on hold")
			e.ok(e.Release(e.Context(), "a"))
			e.end(e.gets("a", "1"), conveyor.VerdictDone)
		})
		e.Behaviour("clearing it, and having none at first", func(e *engine) {
			e.add(job("a"))
			e.exchange(0, leaves(e.gets("a", ""), conveyor.VerdictDefer, state("1")))
			e.exchange(0, leaves(e.gets("a", "1"), conveyor.VerdictDefer, map[string]string{}))
			e.carries("a", "")
			e.end(e.gets("a", ""), conveyor.VerdictDone)
			if n := e.rdb.Exists(e.Context(), e.key("sync")).Val(); n != 0 {
				e.Error("sync is left")
			}
		})
		e.Behaviour("a repeated call gets what the first got, and stores once", func(e *engine) {
			e.add(job("a", synced(state("0"))), job("plain"), job("b", synced(state("b"))))
			rs := e.reserve(3)
			request := conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Queues: []string{"q"}, Want: 3,
				Done: []conveyor.Ack{leaves(rs[0], conveyor.VerdictDefer, state("1")), ack(rs[1], conveyor.VerdictDefer), ack(rs[2], conveyor.VerdictDefer)}}
			first, err := e.Exchange(e.Context(), request)
			e.ok(err)
			want := map[string]string{"a": "1", "plain": "", "b": "b"}
			again, err := e.Exchange(e.Context(), request)
			e.ok(err)
			for _, reply := range []conveyor.ExchangeReply{first, again} {
				got := map[string]string{}
				for _, r := range reply.Reserved {
					got[r.Job.Uuid] = r.Sync["x.io/latest"]
				}
				if diff := cmp.Diff(want, got); diff != "" {
					e.Errorf("sync (-want +got):\n%s", diff)
				}
			}
			late := leaves(rs[0], conveyor.VerdictDone, state("late"))
			if out := e.exchangeAs("other", 0, late).Outdated; len(out) != 1 {
				e.Errorf("outdated %v", out)
			}
			e.carries("a", "1")
			// One that is lost meanwhile is left out of the answer, and the others keep theirs.
			other := conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1)}
			for _, r := range first.Reserved {
				other.Done = append(other.Done, ack(r, conveyor.VerdictBack))
			}
			e.ok(e.exchangeError(other))
			request.Number, request.Done = e.number.Add(1), nil
			first, err = e.Exchange(e.Context(), request)
			e.ok(err)
			e.exchangeAs("other", 0, ack(first.Reserved[0], conveyor.VerdictDone))
			again, err = e.Exchange(e.Context(), request)
			e.ok(err)
			got := map[string]string{}
			for _, r := range again.Reserved {
				got[r.Job.Uuid] = r.Sync["x.io/latest"]
			}
			delete(want, first.Reserved[0].Job.Uuid)
			if diff := cmp.Diff(want, got); diff != "" {
				e.Errorf("sync of the rest (-want +got):\n%s", diff)
			}
		})
		e.Behaviour("an update counts until the first start", func(e *engine) {
			e.add(job("a"), job("b", synced(state("0"))))
			e.ok(e.Update(e.Context(), job("a", synced(state("1")))))
			e.ok(e.Update(e.Context(), job("b")))
			a, b := e.gets("a", "1"), e.gets("b", "")
			e.ok(e.Update(e.Context(), job("a", synced(state("2")))))
			e.carries("a", "1")
			e.exchange(0, leaves(a, conveyor.VerdictDefer, state("3")), leaves(b, conveyor.VerdictDone, nil))
			e.ok(e.Update(e.Context(), job("a", synced(state("4")))))
			e.end(e.gets("a", "3"), conveyor.VerdictDone)
		})
		e.Behaviour("every value survives, and nothing is left with the job", func(e *engine) {
			all := map[string]string{"": "", "a=b,c|d": "\x00 %|,=\n", "empty": "", "long": strings.Repeat("é", 512)}
			delete(all, "")
			short := func(j *wire.Job) { j.RemoveAfter = durationpb.New(time.Second) }
			e.add(job("a", synced(all), short))
			r := e.take("a")
			if diff := cmp.Diff(all, r.Sync); diff != "" {
				e.Errorf("(-want +got):\n%s", diff)
			}
			more := maps.Clone(all)
			more["more"] = "1"
			e.exchange(0, leaves(r, conveyor.VerdictDone, more))
			got, err := e.Sync(e.Context(), "a")
			e.ok(err)
			if diff := cmp.Diff(more, got); diff != "" {
				e.Errorf("(-want +got):\n%s", diff)
			}
			e.pass(time.Second)
			e.tick()
			if n := e.rdb.Exists(e.Context(), e.key("sync")).Val(); n != 0 {
				e.Error("sync is left")
			}
		})
		e.Behaviour("a key of the wrong type is named, and nothing is changed", func(e *engine) {
			e.add(job("a", synced(state("0"))))
			r := e.take("a")
			e.ok(e.rdb.Rename(e.Context(), e.key("sync"), e.key("kept")).Err())
			e.ok(e.rdb.Set(e.Context(), e.key("sync"), "x", 0).Err())
			for name, call := range map[string]func() error{
				"add": func() error { return e.Add(e.Context(), job("b", synced(state("0")))) },
				"exchange": func() error {
					return e.exchangeError(conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1), Done: []conveyor.Ack{leaves(r, conveyor.VerdictDone, state("1"))}})
				},
				"sync": func() error { _, err := e.Sync(e.Context(), "a"); return err },
			} {
				before := dump(e)
				if err := call(); !errors.Is(err, conveyor.ErrCorrupt) || !strings.Contains(err.Error(), e.key("sync")) && name != "sync" {
					e.Errorf("%s: %v", name, err)
				}
				if diff := cmp.Diff(before, dump(e)); diff != "" {
					e.Errorf("%s: something is changed (-before +after):\n%s", name, diff)
				}
			}
			e.end(r, conveyor.VerdictBack)
			reply := e.exchange(1) // the job runs all the same, and the key is told
			if len(reply.Reserved) != 1 || reply.Reserved[0].Sync != nil {
				e.Errorf("reserved %+v", reply.Reserved)
			}
			e.ok(e.rdb.Rename(e.Context(), e.key("kept"), e.key("sync")).Err())
			e.end(reply.Reserved[0], conveyor.VerdictDone)
		})
		e.Behaviour("what is too much is refused, when it is declared and when it is left", func(e *engine) {
			e.add(job("a"))
			r := e.take("a")
			for _, bad := range []map[string]string{{"": "x"}, {"a": strings.Repeat("x", conveyor.MaxSyncValue+1)}} {
				e.refused(e.Add(e.Context(), job("b", synced(bad))), conveyor.ErrSync)
				e.refused(e.exchangeError(conveyor.ExchangeRequest{Worker: "w", Number: e.number.Add(1),
					Done: []conveyor.Ack{leaves(r, conveyor.VerdictDone, bad)}}), conveyor.ErrSync)
			}
			e.end(r, conveyor.VerdictDone)
		})
	})
}

func (e *engine) exchangeError(r conveyor.ExchangeRequest) error {
	_, err := e.Exchange(e.Context(), r)
	return err
}
