package applier

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestParsePosition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Position{"0": {}, "1": {Seq: 1}, "17.2": {Seq: 17, Part: 2}, "9007199254740993.200": {Seq: 9007199254740993, Part: 200}} {
		got, err := ParsePosition(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q is %+v (%s), %v; want %+v", text, got, got, err, want)
		}
	}
	for _, text := range []string{"", "0.1", "-1", "x", "1.", "1.0", "1.-1", "1.2.3", ".2", " 1", "99999999999999999999"} {
		if got, err := ParsePosition(text); err == nil {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

// logged is what the engine's log holds of the workflow's jobs after a position: the changes, in order.
func (l *lab) logged(after Position) []string {
	l.Helper()
	names := map[string]string{}
	for address, r := range l.state().Records {
		names[r.UUID.String()] = address
	}
	var lines []string
	for seq := int64(0); ; {
		batch, err := l.Events(l.Context(), seq, 0)
		l.ok(err)
		for _, e := range batch.Events {
			for i, s := range e.Jobs {
				if name := names[s.UUID]; name != "" && e.Progress == nil && !after.covers(e.Seq, i+1) {
					lines = append(lines, fmt.Sprintf("%d.%d %s %s", e.Seq, i+1, name, s.State))
				}
			}
		}
		if len(batch.Events) == 0 {
			return lines
		}
		seq = batch.Seq
	}
}

// teller notes the changes that it is told, the warnings, and how the jobs stood at first.
type teller struct {
	changes  []string
	at       []Position
	warnings []string
	began    map[string]conveyor.State
	then     func(JobChanged) // called after each change
}

func (n *teller) Observe(e Event) {
	switch e := e.(type) {
	case Following:
		n.began = map[string]conveyor.State{}
		for _, f := range e.Jobs {
			n.began[f.Addr.String()] = f.Status.State
		}
	case JobChanged:
		if e.Part == 0 {
			return
		}
		n.changes = append(n.changes, fmt.Sprintf("%s %s %s", e.Position(), e.Addr, e.Status.State))
		n.at = append(n.at, e.Position())
		if n.then != nil {
			n.then(e)
		}
	case Warning:
		n.warnings = append(n.warnings, e.Summary)
	}
}

func (l *lab) told(o FollowOptions) *teller {
	l.Helper()
	n := &teller{}
	_, err := Follow(l.Context(), l.Client, "w", o, n)
	l.ok(err)
	return n
}

// TestReattach follows an apply after the fact: from its own first batch on, and from behind every change of it, each is told once
// and in order, and jobs that changed no more begin as they ended.
func TestReattach(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("early"))
		l.apply()
		l.work()
		before := l.logged(Position{})
		l.declare(l.job("early"), l.job("bad"), l.job("below", l.after("bad")), l.job("good"), l.job("child", l.under("good")),
			l.job("last", l.after("good", "child")))
		l.apply()
		bad := l.start(1)
		l.ok(l.SetProgress(l.Context(), bad[0].Job.Uuid, bad[0].Fence, conveyor.Progress{Done: 1}))
		l.end(conveyor.VerdictFailed, bad...)
		l.work()

		all := l.logged(Position{})
		n := l.told(FollowOptions{Latest: true})
		if diff := cmp.Diff(all[len(before):], n.changes); diff != "" {
			l.Errorf("of the latest apply (-engine's log +told):\n%s", diff)
		}
		if n.began["job.early"] != conveyor.StateCompleted || n.began["job.last"] != conveyor.StateUnknown || len(n.warnings) > 0 {
			l.Errorf("it began with %v, warned of %q", n.began, n.warnings)
		}
		for i, at := range n.at {
			again := l.told(FollowOptions{After: &at})
			if diff := cmp.Diff(n.changes[i+1:], again.changes, emptyIsNil); diff != "" {
				l.Errorf("after %s (-rest of the log +told):\n%s", at, diff)
			}
		}
		if now := l.told(FollowOptions{}); len(now.changes) > 0 || now.began["job.last"] != conveyor.StateCompleted {
			l.Errorf("from now on it told %q, and began with %v", now.changes, now.began)
		}
	})
}

var emptyIsNil = cmp.Transformer("empty", func(s []string) string { return strings.Join(s, "\n") })

// TestReattachKilled leaves a follower at a random change and goes on from there, over and over, while jobs run: together the
// followers were told the engine's log.
func TestReattachKilled(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")), l.job("c", l.after("a")), l.job("d", l.after("b", "c")), l.job("e", l.under("a")))
		l.apply()
		var told []string
		o := FollowOptions{Latest: true}
		for round := 0; ; round++ {
			ctx, cancel := context.WithCancel(l.Context())
			n := &teller{}
			left := false
			n.then = func(JobChanged) {
				if len(n.changes) > round%3 && !left { // what comes afterwards it never saw
					left = true
					cancel()
				}
			}
			done := make(chan ended, 1)
			go func() {
				r, err := Follow(ctx, l.Client, "w", o, n)
				done <- ended{r, err}
			}()
			var got ended
			for over := false; !over; {
				select {
				case got = <-done:
					over = true
				default:
					l.end(conveyor.VerdictDone, l.start(1)...)
				}
			}
			cancel()
			l.ok(got.err)
			kept := n.changes[:min(len(n.changes), round%3+1)]
			told = append(told, kept...)
			if len(kept) > 0 {
				o = FollowOptions{After: &n.at[len(kept)-1]}
			}
			if !got.result.Interrupted && len(kept) == len(n.changes) {
				break
			}
		}
		if diff := cmp.Diff(l.logged(Position{}), told); diff != "" {
			l.Errorf("together (-engine's log +told):\n%s", diff)
		}
	})
}

// TestReattachTooLate asks for a place that the bounded log has lost: how the jobs stand is told, and that this is so.
func TestReattachTooLate(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")))
		l.apply()
		l.work()
		last, err := l.LastEvent(l.Context())
		l.ok(err)
		l.ok(l.Redis().XTrimMaxLen(l.Context(), l.Prefix()+"events", 1).Err())
		for name, test := range map[string]struct {
			o    FollowOptions
			want string
		}{
			"latest":         {FollowOptions{Latest: true}, "The event log does not reach back to the last apply"},
			"lost":           {FollowOptions{After: &Position{Seq: 1, Part: 1}}, "Changes of jobs are not in the event log any more"},
			"not yet there":  {FollowOptions{After: &Position{Seq: last + 5}}, "Changes of jobs are not in the event log any more"},
			"nothing missed": {FollowOptions{After: &Position{Seq: last}}, ""},
		} {
			n := l.told(test.o)
			if got := strings.Join(n.warnings, "; "); got != test.want {
				l.Errorf("%s: warned of %q, want %q", name, got, test.want)
			}
			if len(n.changes) > 0 || n.began["job.b"] != conveyor.StateCompleted {
				l.Errorf("%s: told %q, began with %v", name, n.changes, n.began)
			}
		}
		n := &teller{}
		mail := newMailbox(n)
		own := &follower{client: l.Client, workflow: "w", mail: mail, first: 1} // of an apply that was too slow for its own log
		_, err = own.run(l.Context())
		l.ok(err)
		mail.close()
		if diff := cmp.Diff([]string{"Changes of jobs are not in the event log any more"}, n.warnings); diff != "" {
			l.Errorf("an apply warned (-want +got):\n%s", diff)
		}
	})
}

// TestFollowAfterOutage has a follower find the log after an outage trimmed, or as a server has it that never got the last event:
// shorter, or with another event of that number. Only the latter two have lost changes.
func TestFollowAfterOutage(t *testing.T) {
	const trimmed, lost = "Changes of jobs are not in the event log any more", "The store has lost its latest changes"
	for name, test := range map[string]struct {
		happens func(l *lab, events string)
		want    []string
	}{
		"nothing": {func(l *lab, _ string) { l.work() }, nil},
		"trimmed": {func(l *lab, events string) {
			l.work()
			l.ok(l.Redis().XTrimMaxLen(l.Context(), events, 1).Err())
		}, []string{trimmed}},
		"shorter": {func(l *lab, events string) {
			l.ok(l.Redis().Del(l.Context(), events).Err())
			l.ok(l.Redis().Decr(l.Context(), l.Prefix()+"events:seq").Err())
		}, []string{lost}},
		"another": {func(l *lab, events string) {
			log, err := l.Redis().XRange(l.Context(), events, "-", "+").Result()
			l.ok(err)
			l.ok(l.Redis().Del(l.Context(), events).Err())
			for _, m := range log {
				m.Values["t"] = "1"
				l.ok(l.Redis().XAdd(l.Context(), &redis.XAddArgs{Stream: events, ID: m.ID, Values: m.Values}).Err())
			}
		}, []string{lost}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				l.declare(l.job("a"), l.job("b", l.after("a")))
				l.apply()
				n := &teller{}
				f := &follower{client: l.Client, workflow: "w", mail: newMailbox(n), warned: map[Warning]bool{}}
				l.ok(f.load(l.Context()))
				test.happens(l, l.Prefix()+"events")
				f.unsure = true
				l.ok(f.step(l.Context()))
				f.mail.close()
				if diff := cmp.Diff(test.want, n.warnings); diff != "" {
					l.Errorf("warned (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFollowNewJobs has another apply add a job meanwhile: all that happens to it is told too, from its first event, and no
// position comes twice or goes back.
func TestFollowNewJobs(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		began, n := make(chan struct{}), &teller{}
		told := make(chan struct{}, 100)
		n.then = func(JobChanged) { told <- struct{}{} }
		done := make(chan ended, 1)
		go func() {
			r, err := Follow(l.Context(), l.Client, "w", FollowOptions{Latest: true}, observerFunc(func(e Event) {
				n.Observe(e)
				if isFollowing(e) && len(n.began) == 1 {
					close(began)
				}
			}))
			done <- ended{r, err}
		}()
		<-began
		other := l.another()
		other.declare(l.job("a"), l.job("b", l.after("a")))
		other.apply()
		l.work()
		l.ok((<-done).err)
		if diff := cmp.Diff(l.logged(Position{}), n.changes); diff != "" {
			l.Errorf("told (-engine's log +told):\n%s", diff)
		}
	})
}

// TestFollowProgress tells how far a job is, and the last of many tidings too.
func TestFollowProgress(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		running := l.start(1)
		v := newViewer()
		done := make(chan ended, 1)
		go func() {
			r, err := Follow(l.Context(), l.Client, "w", FollowOptions{Latest: true}, v)
			done <- ended{r, err}
		}()
		v.until(l.T, "following", isFollowing)
		const n = 20
		for i := range int64(n) {
			l.ok(l.SetProgress(l.Context(), running[0].Job.Uuid, running[0].Fence, conveyor.Progress{Done: i + 1, Total: n}))
		}
		v.until(l.T, "the last progress", func(e Event) bool {
			p, ok := e.(JobProgress)
			return ok && p.Addr.Name == "a" && p.Progress.Done == n
		})
		late := newViewer() // it comes when nothing more is told of the job
		lateDone := make(chan ended, 1)
		go func() {
			r, err := Follow(l.Context(), l.Client, "w", FollowOptions{}, late)
			lateDone <- ended{r, err}
		}()
		late.until(l.T, "the progress that was made before", func(e Event) bool {
			p, ok := e.(JobProgress)
			return ok && p.Progress.Done == n
		})
		l.end(conveyor.VerdictDone, running...)
		l.ok((<-done).err)
		l.ok((<-lateDone).err)
	})
}
