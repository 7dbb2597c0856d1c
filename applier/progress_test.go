package applier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// diversions collects what an apply decided anew.
type diversions struct{ rows []string }

func (d *diversions) Observe(e Event) {
	if e, ok := e.(RowDiverted); ok {
		d.rows = append(d.rows, fmt.Sprintf("%s: %s, not %s", e.Row.Addr.Name, e.Row.Action, e.Prev))
	}
}

// TestJobsMoveOn lets jobs move between plan and apply, and between the check under the lock and the batch: their rows take
// the table's action for where they are by then, it is told, and everything runs as often as it has to.
func TestJobsMoveOn(t *testing.T) {
	type moving struct {
		before func(l *lab) []*config.Job          // declares and runs; returns the edited workflow
		move   func(l *lab) []conveyor.Reservation // what happens meanwhile; what still runs is ended later
		told   []string                            // diversions
		runs   []string                            // from then on
		live   map[string]string                   // at the end
	}
	finish := func(l *lab) []conveyor.Reservation { l.work(); return nil }
	run := func(l *lab) []conveyor.Reservation { return l.start(1) }
	chain := func(l *lab, version string) []*config.Job {
		return []*config.Job{l.job("a", payload(version)), l.job("b", l.after("a"))}
	}
	tests := map[string]moving{
		"a queued job starts": {
			before: func(l *lab) []*config.Job { l.declare(chain(l, "1")...); l.apply(); return chain(l, "2") },
			move:   run,
			told:   []string{"a: replace, not update", "b: update, not no-op"},
			runs:   []string{"a", "b"},
		},
		"a queued job ends": {
			before: func(l *lab) []*config.Job { l.declare(chain(l, "1")...); l.apply(); return chain(l, "2") },
			move:   finish,
			told:   []string{"a: replace, not update", "b: replace, not no-op"},
			runs:   []string{"a", "b"},
		},
		"a running job ends": {
			before: func(l *lab) []*config.Job {
				l.declare(chain(l, "1")...)
				l.apply()
				return chain(l, "2")
			},
			move: func(l *lab) []conveyor.Reservation { l.end(conveyor.VerdictDone, l.start(1)...); return nil },
			told: []string{"a: replace, not update", "b: update, not no-op"},
			runs: []string{"a", "b"},
		},
		"a removed job starts": {
			before: func(l *lab) []*config.Job {
				l.declare(l.job("a"), l.job("b"))
				l.apply()
				return []*config.Job{l.job("b")}
			},
			move: run,
			runs: []string{"b"},
			live: map[string]string{"a": "cancelled"},
		},
		"a parent completes that a child was to join": {
			before: func(l *lab) []*config.Job {
				jobs := func(version string) []*config.Job {
					return []*config.Job{l.job("p"), l.job("a", l.under("p"), payload(version)), l.job("slow", l.under("p"))}
				}
				l.declare(jobs("1")...)
				l.apply()
				l.end(conveyor.VerdictDone, l.start(1)...) // p's own work
				l.end(conveyor.VerdictDone, l.start(1)...) // a
				return jobs("2")
			},
			move: finish,
			told: []string{"p: reopen, not no-op"},
			runs: []string{"a"},
		},
		"what the plan leaves alone fails": {
			before: func(l *lab) []*config.Job {
				l.declare(l.job("a"), l.job("b"))
				l.apply()
				return []*config.Job{l.job("a"), l.job("b", payload("2"))}
			},
			move: func(l *lab) []conveyor.Reservation { l.end(conveyor.VerdictFailed, l.start(1)...); return nil },
			runs: []string{"b"},
			live: map[string]string{"a": "failed"},
		},
	}
	for name, test := range tests {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/late=%t", name, late), func(t *testing.T) {
				onBoth(t, func(l *lab) {
					l.declare(test.before(l)...)
					plan, seen := l.plan(), &diversions{}
					l.run.Observer = seen
					var running []conveyor.Reservation
					moved := false
					move := func() {
						if !moved {
							moved = true
							running = test.move(l)
						}
					}
					if !late {
						move()
					}
					l.run.probe = func(phase string) {
						if phase != "lock" {
							move()
						}
					}
					_, err := l.carryOut(l.Context(), plan)
					l.ok(err)
					l.run.Observer, l.run.probe = nil, nil
					if diff := cmp.Diff(test.told, seen.rows); diff != "" {
						l.Errorf("told (-want +got):\n%s", diff)
					}
					l.end(conveyor.VerdictDone, running...)
					if diff := cmp.Diff(test.runs, l.work()); diff != "" {
						l.Errorf("runs (-want +got):\n%s", diff)
					}
					for _, j := range l.workflow.Jobs {
						want := test.live[j.Addr.Name]
						if want == "" {
							want = "completed"
						}
						if live := l.live(j.Addr.Name); live != want {
							l.Errorf("%s is %s, want %s", j.Addr, live, want)
						}
					}
				})
			})
		}
	}
}

// TestRerunIsNotDoubled diverts an apply that was asked to run everything again: what it had written stays as it is.
func TestRerunIsNotDoubled(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b", l.after("a")), l.job("c", l.after("b")), l.job("d"))
		l.apply()
		l.work()
		l.run.Options.Rerun, l.run.batch = true, 1
		l.apply() // generation 2, which waits
		plan, writes := l.plan(), 0
		l.run.probe = func(phase string) {
			if phase == "rows" {
				if writes++; writes == 3 {
					l.end(conveyor.VerdictDone, l.start(1)...) // a, that is to be replaced by this write
				}
			}
		}
		_, err := l.carryOut(l.Context(), plan)
		l.ok(err)
		l.run.probe = nil
		for _, name := range []string{"b", "c", "d"} {
			if g := l.record(name).Generation; g != 3 {
				l.Errorf("job.%s has generation %d, want 3", name, g)
			}
		}
		if diff := cmp.Diff([]string{"a", "d", "b", "c"}, l.work()); diff != "" {
			l.Errorf("runs (-want +got):\n%s", diff)
		}
	})
}

// TestRestlessJob never finds a row's job where the row expects it, and gives up with the job's name.
func TestRestlessJob(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a", payload("1")))
		l.apply()
		l.declare(l.job("a", payload("2")))
		var running []conveyor.Reservation
		l.run.probe = func(phase string) {
			if phase != "rows" {
				return
			}
			if running == nil {
				running = l.start(1)
				return
			}
			l.end(conveyor.VerdictBack, running...)
			running = nil
		}
		_, err := l.tryApply(l.Context())
		if err == nil || !strings.Contains(err.Error(), "job.a") || !strings.Contains(err.Error(), "apply again") {
			l.Errorf("got %v, want an error that names job.a", err)
		}
		l.end(conveyor.VerdictDone, running...)
		l.work()
	})
}

// refusing answers the k-th batch with a conflict about a record although the batch was done, as the store does when a
// batch is sent again after its reply was lost and something it expects has changed since.
type refusing struct {
	at, batches int
}

func (r *refusing) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *refusing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		lock := slices.ContainsFunc([]*redis.Script{acquireScript, renewScript, releaseScript}, func(s *redis.Script) bool {
			return len(cmd.Args()) > 1 && cmd.Args()[1] == s.Hash()
		})
		if !redistest.IsScript(cmd) || lock || err != nil {
			return err
		}
		if r.batches++; r.batches != r.at {
			return nil
		}
		conflict := redis.NewCmd(ctx, "eval", "return redis.error_reply('CONFLICT 0:1:v')", "0")
		err = next(ctx, conflict)
		cmd.SetErr(err)
		return err
	}
}

func (r *refusing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestDoneAndRefused meets records of its own that it does not know it wrote: it reads them again and goes on.
func TestDoneAndRefused(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("warm"))
		l.apply() // the store knows the scripts from here on
		l.work()
		for at := 1; at <= 4; at++ {
			l.declare(append(salesLike(l, fmt.Sprint(at), fmt.Sprintf("old%d", at)), l.job("warm"))...)
			rdb := l.store.connect(l.T)
			rdb.AddHook(&refusing{at: at})
			one := l.rival(rdb)
			one.run.batch = 3
			one.apply()
			l.runs = nil
			l.work()
			seen := map[string]bool{}
			for _, r := range l.runs {
				if seen[r.name] {
					l.Errorf("refused at batch %d: %s ran twice", at, r.name)
				}
				seen[r.name] = true
			}
			l.noChanges()
		}
	})
}
