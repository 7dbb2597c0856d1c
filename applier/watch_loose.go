package applier

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/conveyor"
)

// looseJobs are the jobs of a namespace that belong to no workflow. All are counted; those that changed last are listed.
type looseJobs struct {
	counts StateCounts
	marks  int64
	recent []looseMark // ascending
	dirty  bool        // something has changed since newest was asked
}

// looseMark is a change of a job; it is outdated when the job has another mark.
type looseMark struct {
	job *watchedJob
	n   int64
}

func (l *looseJobs) total() int {
	n := 0
	for _, c := range l.counts {
		n += c
	}
	return n
}

// changed notes that a job of nobody came, changed or is gone.
func (l *looseJobs) changed(j *watchedJob) {
	l.dirty = true
	l.marks++
	j.mark = l.marks
	if l.recent = append(l.recent, looseMark{j, l.marks}); len(l.recent) >= looseRetained {
		l.prune()
	}
}

// forget notes that a job is somebody's by now.
func (l *looseJobs) forget(j *watchedJob) {
	if j.mark != 0 {
		j.mark, l.dirty = 0, true
	}
}

func (l *looseJobs) prune() {
	l.recent = slices.DeleteFunc(l.recent, func(m looseMark) bool {
		return m.n != m.job.mark || m.job.status.State == conveyor.StateUnknown
	})
	if over := len(l.recent) - looseRetained/2; over > 0 {
		l.recent = slices.Delete(l.recent, 0, over)
	}
}

// newest are the jobs that changed last, if anything has changed since it was asked before; all are where to look.
func (l *looseJobs) newest(all map[string]*watchedJob) (jobs []conveyor.Status, total int, changed bool) {
	if !l.dirty {
		return nil, 0, false
	}
	l.dirty = false
	l.prune()
	total = l.total()
	if len(l.recent) < min(total, maxLoose) {
		l.rebuild(all)
	}
	for _, m := range slices.Backward(l.recent) {
		if len(jobs) < maxLoose {
			jobs = append(jobs, m.job.status)
		}
	}
	return jobs, total, true
}

// rebuild finds the latest of all jobs.
func (l *looseJobs) rebuild(all map[string]*watchedJob) {
	l.recent = l.recent[:0]
	for _, j := range all {
		if j.flow == nil && j.status.State != conveyor.StateUnknown && j.mark != 0 {
			l.recent = append(l.recent, looseMark{j, j.mark})
		}
	}
	slices.SortFunc(l.recent, func(a, b looseMark) int { return cmp.Compare(a.n, b.n) })
	if over := len(l.recent) - looseRetained/2; over > 0 {
		l.recent = slices.Clone(l.recent[over:])
	}
}

// compareAge orders statuses that were read at once: what is over first, by when it ended; the others as they became ready.
func compareAge(a, b conveyor.Status) int {
	if a.State.Ended() != b.State.Ended() {
		if a.State.Ended() {
			return -1
		}
		return 1
	}
	return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.Place, b.Place), cmp.Compare(a.UUID, b.UUID))
}
