package conveyor

import (
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Definitions that contradict each other, for errors.Is. They are found among the jobs of one call; the scripts find what
// concerns jobs of other calls.
var (
	ErrBelowTemplate     = errors.New("a job that waits for a template has to be one itself: set template")
	ErrNoRoot            = errors.New("a template has a schedule or a gate, or waits for a template that has one")
	ErrTwoRoots          = errors.New("a job has two scheduled or gated ancestors, whose cycles have nothing to do with each other: schedule one job above them")
	ErrBroadcastUpstream = errors.New("a job for all workers is done before any of them has run it: nothing waits for it")
)

// families looks at the edges between the jobs of one call.
type families struct {
	jobs  map[string]*wire.Job
	roots map[string]string // of those that were looked at; "" is none, or one of another call
}

// checkFamilies joins what is wrong between jobs, at most ten of them.
func checkFamilies(jobs []*wire.Job) error {
	f := families{jobs: map[string]*wire.Job{}, roots: map[string]string{}}
	for _, job := range jobs {
		if job != nil && job.Uuid != "" && (isTemplate(job) || isBroadcast(job)) {
			f.jobs[job.Uuid] = job
		}
	}
	if len(f.jobs) == 0 {
		return nil // as most calls are
	}
	for _, job := range jobs {
		if job != nil && job.Uuid != "" {
			f.jobs[job.Uuid] = job
		}
	}
	var problems []error
	for _, job := range jobs {
		if job == nil {
			continue
		}
		if err := f.check(job); err != nil && len(problems) < 10 {
			problems = append(problems, fmt.Errorf("job %s: %w", label(job), err))
		}
	}
	if err := f.checkGateLoops(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (f *families) check(job *wire.Job) error {
	var problems []error
	upstreams := upstreamsOf(job)
	known, templates := len(upstreams) > 0, 0 // one without any is refused by itself
	for _, u := range upstreams {
		up := f.jobs[u]
		switch {
		case up == nil:
			known = false
		case isBroadcast(up):
			problems = append(problems, fmt.Errorf("it waits for %s: %w", label(up), ErrBroadcastUpstream))
		case isTemplate(up):
			if templates++; !isTemplate(job) {
				problems = append(problems, fmt.Errorf("it waits for %s: %w", label(up), ErrBelowTemplate))
			}
		}
	}
	switch {
	case isRoot(job) && templates > 0:
		problems = append(problems, fmt.Errorf("it is scheduled or gated itself, and waits for a template: %w", ErrTwoRoots))
	case isTemplate(job) && !isRoot(job):
		if templates == 0 && known {
			problems = append(problems, ErrNoRoot)
		}
		if first, second := f.twoRoots(job); second != "" {
			problems = append(problems, fmt.Errorf("%s and %s: %w", label(f.jobs[first]), label(f.jobs[second]), ErrTwoRoots))
		}
	}
	return errors.Join(problems...)
}

// twoRoots are the first two roots that a job's upstreams have; "" for the second if they have the same.
func (f *families) twoRoots(job *wire.Job) (first, second string) {
	for _, u := range upstreamsOf(job) {
		switch root := f.root(u); {
		case root == "":
		case first == "":
			first = root
		case root != first:
			return first, root
		}
	}
	return first, ""
}

// root is the root of a template, the first that is found.
func (f *families) root(uuid string) string {
	if root, seen := f.roots[uuid]; seen {
		return root
	}
	f.roots[uuid] = "" // so that jobs in a circle, which nothing would ever start, have none
	job := f.jobs[uuid]
	switch {
	case job == nil || !isTemplate(job):
	case isRoot(job):
		f.roots[uuid] = uuid
	default:
		f.roots[uuid], _ = f.twoRoots(job)
	}
	return f.roots[uuid]
}
