package conveyor_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestLogs(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"))
		r := e.take("a")
		log := func(fence, n int64, text string) error { return e.AppendLog(e.Context(), "a", fence, n, []byte(text)) }
		read := func(e *engine, after conveyor.LogPosition) []conveyor.LogEntry {
			e.Helper()
			entries, err := e.Logs(e.Context(), "a", after, 100, 0)
			e.ok(err)
			return entries
		}
		e.Run("pieces come back in order, a repeated one is there once", func(e *engine) {
			e.ok(log(1, 1, "one"))
			e.ok(log(1, 2, "two"))
			e.ok(log(1, 1, "one"))
			want := []conveyor.LogEntry{
				{Fence: 1, N: 1, At: time.UnixMilli(e.now), Text: []byte("one")}, {Fence: 1, N: 2, At: time.UnixMilli(e.now), Text: []byte("two")},
			}
			if diff := cmp.Diff(want, read(e, conveyor.LogPosition{})); diff != "" {
				e.Error(diff)
			}
			if diff := cmp.Diff(want[1:], read(e, conveyor.LogPosition{Fence: 1, N: 1})); diff != "" {
				e.Error(diff)
			}
		})
		e.Run("what is over a megabyte is counted", func(e *engine) {
			big := bytes.Repeat([]byte("x"), conveyor.MaxLog/2)
			e.ok(log(1, 3, string(big)))
			e.ok(log(1, 4, string(big)))
			e.ok(log(1, 5, "end"))
			last := read(e, conveyor.LogPosition{Fence: 1, N: 3})
			if len(last) != 1 || last[0].N != 5 || last[0].Dropped != int64(len(big)+3) || len(last[0].Text) != 0 {
				e.Errorf("%d entries, %+v", len(last), last)
			}
		})
		e.alone("what is left out follows all that was kept", func(e *engine) {
			e.add(job("a"))
			e.take("a")
			piece := strings.Repeat("x", conveyor.MaxLog/2)
			for n := range int64(4) {
				e.ok(e.AppendLog(e.Context(), "a", 1, n+1, []byte(piece)))
			}
			type entry struct {
				N, Dropped int64
				Bytes      int
			}
			var got []entry
			for _, l := range read(e, conveyor.LogPosition{}) {
				got = append(got, entry{l.N, l.Dropped, len(l.Text)})
			}
			if diff := cmp.Diff([]entry{{1, 0, len(piece)}, {2, 0, len(piece)}, {4, 2 * int64(len(piece)), 0}}, got); diff != "" {
				e.Errorf("entries (-want +got):\n%s", diff)
			}
			e.ok(e.Leave(e.Context(), "w"))
		})
		e.alone("who runs no attempt writes nothing", func(e *engine) {
			e.add(job("a"))
			e.run("a", conveyor.VerdictBack)
			for _, uuid := range []string{"a", "never"} {
				e.refused(e.AppendLog(e.Context(), uuid, 1, 1, []byte("x")), conveyor.ErrOutdated)
				e.refused(e.SetProgress(e.Context(), uuid, 1, conveyor.Progress{Done: 1}), conveyor.ErrOutdated)
			}
		})
		e.alone("what the attempt before told too is news of the next one", func(e *engine) {
			e.add(job("a"))
			for range 2 {
				r := e.take("a")
				e.pass(time.Second)
				for range 2 {
					e.ok(e.SetProgress(e.Context(), "a", r.Fence, conveyor.Progress{Done: 1, Total: 2}))
				}
				e.end(r, conveyor.VerdictBack)
			}
			batch, err := e.Events(e.Context(), 0, 0)
			e.ok(err)
			news := 0
			for _, ev := range batch.Events {
				if ev.Kind == "progress" {
					news++
				}
			}
			if news != 2 {
				e.Errorf("told %d times", news)
			}
		})
		e.Behaviour("A14c a superseded attempt writes nothing", func(e *engine) {
			log := func(fence, n int64, text string) error { return e.AppendLog(e.Context(), "a", fence, n, []byte(text)) }
			e.add(job("a"))
			e.run("a", conveyor.VerdictBack)
			e.refused(log(1, 1, "late"), conveyor.ErrOutdated)
			r2 := e.take("a")
			e.refused(log(1, 2, "late"), conveyor.ErrOutdated)
			e.ok(log(2, 1, "again"))
			e.refused(e.SetProgress(e.Context(), "a", 1, conveyor.Progress{Done: 1}), conveyor.ErrOutdated)
			e.exchange(0, conveyor.Ack{UUID: "a", Fence: r2.Fence, Result: []byte("result")})
			if got := read(e, conveyor.LogPosition{}); len(got) != 1 || string(got[0].Text) != "again" {
				e.Errorf("%+v", got)
			}
		})
		e.Run("a result is kept, another job has none", func(e *engine) {
			e.exchange(0, conveyor.Ack{UUID: "a", Fence: r.Fence, Result: []byte("result")})
			b, err := e.Result(e.Context(), "a")
			if string(b) != "result" || err != nil {
				e.Errorf("%q %v", b, err)
			}
			_, err = e.Result(e.Context(), "never")
			e.refused(err, conveyor.ErrNotFound)
		})
		e.Run("failures are cut in the middle", func(e *engine) {
			e.add(job("f"))
			f := e.take("f")
			e.exchange(0, conveyor.Ack{UUID: "f", Fence: f.Fence, Verdict: conveyor.VerdictFailed, Failure: "begin" + strings.Repeat("x", 9000) + "end"})
			text, err := e.Failure(e.Context(), "f")
			if err != nil || len(text) > conveyor.MaxFailure || !strings.HasPrefix(text, "begin") || !strings.HasSuffix(text, "end") {
				e.Errorf("%d bytes, %v", len(text), err)
			}
		})
	})
}

func TestEvents(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.Behaviour("A15a every change is told, with whole statuses and without gaps", func(e *engine) {
			e.add(job("a"), job("b", after(0, "a")))
			r := e.take("a")
			e.ok(e.SetProgress(e.Context(), "a", r.Fence, conveyor.Progress{Done: 3, Total: 4, Text: "most of it"}))
			e.end(r, conveyor.VerdictDone)
			batch, err := e.Events(e.Context(), 0, 0)
			e.ok(err)
			var got []string
			for i, ev := range batch.Events {
				if ev.Seq != int64(i+1) || !ev.At.Equal(time.UnixMilli(e.now)) {
					e.Errorf("%+v", ev)
				}
				line := ev.Kind
				for _, s := range ev.Jobs {
					line += fmt.Sprintf(" %s=%s", s.UUID, s.State)
				}
				got = append(got, line)
			}
			want := []string{"add a=queued b=held", "exchange a=running", "progress a=running", "exchange a=completed b=queued"}
			if diff := cmp.Diff(want, got); diff != "" || batch.Gap || batch.Seq != 4 {
				e.Errorf("%s gap %v seq %d", diff, batch.Gap, batch.Seq)
			}
			p, err := e.ProgressOf(e.Context(), "a")
			if diff := cmp.Diff(conveyor.Progress{Done: 3, Total: 4, Text: "most of it", At: time.UnixMilli(e.now)}, p); diff != "" || err != nil {
				e.Error(diff, err)
			}
			last, err := e.LastEvent(e.Context())
			if last != 4 || err != nil {
				e.Error(last, err)
			}
		})
		e.add(job("a"), job("b", after(0, "a")))
		e.run("a", conveyor.VerdictDone)
		e.take("b")
		e.Run("nothing new is an empty batch, also after waiting", func(e *engine) {
			for _, block := range []time.Duration{0, time.Millisecond} {
				batch, err := e.Events(e.Context(), 4, block)
				if err != nil || len(batch.Events) > 0 || batch.Seq != 4 || batch.Gap {
					e.Errorf("%+v %v", batch, err)
				}
			}
		})
		e.Run("a reader behind the log's tail is told", func(e *engine) {
			e.ok(e.rdb.XTrimMaxLen(e.Context(), e.key("events"), 2).Err())
			batch, err := e.Events(e.Context(), 1, 0)
			if err != nil || !batch.Gap || len(batch.Events) != 2 || batch.Seq != 4 {
				e.Errorf("%+v %v", batch, err)
			}
			batch, err = e.Events(e.Context(), 99, 0)
			if err != nil || !batch.Gap || batch.Seq != 4 {
				e.Errorf("%+v %v", batch, err)
			}
		})
	})
}

func TestRetention(t *testing.T) {
	onBoth(t, func(e *engine) {
		record := &conveyor.Attach{Key: "state:w", Field: "kept", Value: []byte("1")}
		e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{{Kind: conveyor.ChangeAdd, Job: job("kept"), Attach: record}}}))
		e.add(job("failed"), job("gone"), job("waits", after(0, "never")), job("h", after(0, "gone", "kept")))
		for _, r := range e.reserves("kept", "failed", "gone") {
			u := r.Job.Uuid
			e.ok(e.AppendLog(e.Context(), u, 1, 1, []byte("log")))
			e.ok(e.SetProgress(e.Context(), u, 1, conveyor.Progress{Done: 1}))
			verdict := conveyor.VerdictDone
			if u == "failed" {
				verdict = conveyor.VerdictFailed
			}
			e.exchange(0, conveyor.Ack{UUID: u, Fence: 1, Verdict: verdict, Result: []byte("r"), Failure: "f"})
		}
		e.run("h", conveyor.VerdictDone)
		e.ok(e.Cancel(e.Context(), "waits"))
		e.ok(e.Leave(e.Context(), "w"))
		e.Run("before its time everything is there", func(e *engine) {
			e.pass(conveyor.Retention - time.Millisecond)
			e.tick()
			e.states("kept completed, failed failed, gone completed, waits cancelled, h completed")
		})
		e.Run("I13 then nothing of a job without record is left", func(e *engine) {
			e.pass(time.Millisecond)
			for e.tick().More {
				continue
			}
			e.states("kept completed, failed unknown, gone unknown, waits unknown, h unknown")
			e.wantKeys()
			if b, err := e.Result(e.Context(), "kept"); err != nil || string(b) != "r" {
				e.Errorf("a result lives as long as the record: %q %v", b, err)
			}
			for _, key := range []string{"failed", "progress", "ended:q", "sweeps", "todo", "scheduled", "depth", "slots"} {
				if n := e.rdb.Exists(e.Context(), e.key(key)).Val(); n != 0 {
					e.Errorf("%s is left", key)
				}
			}
			for _, hash := range []string{"status", "results", "failures"} {
				if n := e.rdb.HLen(e.Context(), e.key(hash)).Val(); n != 1 {
					e.Errorf("%s has %d fields", hash, n)
				}
			}
		})
		e.Run("nor of one whose record is given up", func(e *engine) {
			e.ok(e.Apply(e.Context(), conveyor.Batch{Changes: []conveyor.Change{
				{Kind: conveyor.ChangeRelease, UUID: "kept", Attach: &conveyor.Attach{Key: "state:w", Field: "kept", Version: 1}},
			}}))
			left := e.scan()
			if want := 5; len(left) != want { // clock, seq, events, events:seq, events:life
				e.Errorf("left: %v", left)
			}
		})
	})
}
