package applier

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWatchRandom does all kinds of things to a namespace while it is watched now and then: in the end what was told is what
// the store holds.
//
// WAYBILL_SEED repeats one course of it.
func TestWatchRandom(t *testing.T) {
	first, last := uint64(1), uint64(5)
	if seed, err := strconv.ParseUint(os.Getenv("WAYBILL_SEED"), 10, 64); err == nil {
		first, last = seed, seed
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { watchRandom(t, seed) })
	}
}

func watchRandom(t *testing.T, seed uint64) {
	onBoth(t, func(l *lab) {
		r := rand.New(rand.NewPCG(seed, 11))
		l.declare()
		w, s := l.stepped()
		flows := map[string]*lab{"u": l.workflowNamed("u"), "v": l.workflowNamed("v"), "w": l.workflowNamed("w")}
		names := slices.Sorted(maps.Keys(flows))
		var running []conveyor.Reservation
		loose := 0
		for range 120 {
			f := flows[names[r.IntN(len(names))]]
			switch r.IntN(13) {
			case 11, 12:
				if record := f.state().Records["job.a"]; record != nil && f.live("a") == "template" {
					_, err := l.RunTemplate(l.Context(), record.UUID.String())
					l.ok(err)
				}
			case 0, 1, 2: // another shape of a workflow
				f.workflow.Jobs = nil
				for i := range 1 + r.IntN(5) {
					j := l.job(fmt.Sprintf("%c", 'a'+i), payload(fmt.Sprint(r.IntN(3))))
					if i > 0 {
						up := fmt.Sprintf("%c", 'a'+r.IntN(i))
						[]func(*config.Job){l.after(up), l.under(up), func(*config.Job) {}}[r.IntN(3)](j)
					} else if r.IntN(3) == 0 {
						hourly(j)
					}
					f.workflow.Jobs = append(f.workflow.Jobs, j)
				}
				_, err := f.tryApply(l.Context())
				l.ok(err)
			case 3:
				f.destroy()
			case 4:
				loose++
				l.ok(l.Add(l.Context(), &wire.Job{Uuid: fmt.Sprintf("loose-%d", loose), Name: "job.loose", Type: "noop", Queue: "q"}))
			case 5, 6:
				running = append(running, l.start(1+r.IntN(3))...)
			case 7, 8:
				for _, job := range running {
					l.end([]conveyor.Verdict{conveyor.VerdictDone, conveyor.VerdictDone, conveyor.VerdictFailed}[r.IntN(3)], job)
				}
				running = nil
			case 9:
				if r.IntN(4) == 0 {
					l.ok(l.Redis().XTrimMaxLen(l.Context(), l.Prefix()+"events", 1).Err())
				}
				_, err := l.Tick(l.Context())
				l.ok(err)
			case 10:
				l.ok(w.step(l.Context()))
			}
		}
		want := l.standing(names)
		l.stepUntil(w, s, "what the store holds: "+want, func() bool { return s.standing() == want })
		if diff := cmp.Diff(w.recount(), w.counted()); diff != "" {
			l.Errorf("counts (-of the jobs +kept):\n%s", diff)
		}
		queues, err := l.Queues(l.Context())
		l.ok(err)
		l.stepUntil(w, s, fmt.Sprintf("queues as they are: %+v", queues), func() bool {
			return !slices.ContainsFunc(queues, func(q conveyor.QueueInfo) bool {
				told := s.queues[q.Name].Info
				return told.Depth != q.Depth || told.Running != q.Running
			})
		})
		l.end(conveyor.VerdictDone, running...)
	})
}

// standing is how all jobs stand, in a line: of the workflows by address, of nobody by uuid.
func (l *lab) standing(workflows []string) string {
	l.Helper()
	statuses, err := l.Survey(l.Context())
	l.ok(err)
	of := map[string]string{}
	for _, name := range workflows {
		state, err := ReadState(l.Context(), l.Client, name)
		l.ok(err)
		for address, record := range state.Records {
			of[record.UUID.String()] = name + "/" + address
		}
	}
	jobs := slices.DeleteFunc(statuses.Jobs, func(s conveyor.Status) bool { return of[s.Template] != "" && s.State.Ended() })
	return inOneLine(jobs, func(s conveyor.Status) string { return of[s.UUID] })
}

// standing is the same as it was told.
func (s *sight) standing() string {
	of := map[string]string{}
	var all []conveyor.Status
	for name, jobs := range s.jobs {
		for address, status := range jobs {
			of[status.UUID] = name + "/" + address
			all = append(all, status)
		}
	}
	for _, e := range s.occurrences {
		if of[e.Status.Template] != "" && !e.Status.State.Ended() && e.Status.State != conveyor.StateUnknown {
			all = append(all, e.Status)
		}
	}
	return inOneLine(append(all, s.loose.Jobs...), func(s conveyor.Status) string { return of[s.UUID] })
}

func inOneLine(jobs []conveyor.Status, name func(conveyor.Status) string) string {
	var words []string
	for _, j := range jobs {
		n := name(j)
		if n == "" {
			n = j.UUID
		}
		words = append(words, n+"="+j.State.String())
	}
	slices.Sort(words)
	return fmt.Sprint(words)
}

// counted are the numbers that a watch keeps.
func (w *watcher) counted() map[string]any {
	numbers := map[string]any{"loose": w.loose.counts, "loads": maps.Clone(w.loads), "running": len(w.runs), "early": len(w.early)}
	for name, f := range w.flows {
		numbers[name], numbers[name+" occurrences"] = f.counts, f.occurrences
	}
	for root, counts := range w.cycles.counts {
		numbers["cycles of "+root] = *counts
	}
	for template, m := range w.cycles.made {
		numbers["made of "+template] = m.counts
	}
	return numbers
}

// recount makes them anew.
func (w *watcher) recount() map[string]any {
	var loose StateCounts
	loads, flows, running, early := map[string]int{}, map[string]*StateCounts{}, 0, 0
	for name := range w.flows {
		flows[name], flows[name+" occurrences"] = &StateCounts{}, &StateCounts{}
	}
	count := func(what string, s conveyor.Status) {
		if flows[what] == nil {
			flows[what] = &StateCounts{}
		}
		flows[what][s.State]++
	}
	for _, j := range w.jobs {
		if j.status.State == conveyor.StateRunning {
			loads[j.status.Owner]++
		}
		if s := j.status; s.Template != "" {
			count("cycles of "+s.Root, s)
			count("made of "+s.Template, s)
			if t := w.jobs[s.Template]; t != nil && t.flow != nil {
				count(t.flow.name+" occurrences", s)
				continue
			}
		}
		if j.flow == nil {
			loose[j.status.State]++
			continue
		}
		flows[j.flow.name][j.status.State]++
		if j.status.State == conveyor.StateRunning {
			running++
		}
	}
	numbers := map[string]any{"loose": loose, "loads": loads, "running": running, "early": early}
	for name, counts := range flows {
		numbers[name] = *counts
	}
	return numbers
}
