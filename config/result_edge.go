package config

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// settleReadings gives each result and secret in the work of a job the form in which it stands there, and tells of whom it reads, and which
// secrets. Text that only looks like a reading is none: no expression made it.
func (s *scope) settleReadings(d *document, job *Job, typed bool) {
	looks := bytes.Count(d.real, []byte(readingHead))
	if looks == 0 {
		return
	}
	seen := map[string]bool{}
	are := 0
	settle := func(data []byte) []byte {
		return eachReading(data, func(r Reading, before, behind []byte) (string, int) {
			if r.origin == "" {
				return "", 0
			}
			are++
			if r.Secret != "" {
				job.Secrets = append(job.Secrets, r.Secret)
			} else if addr, err := ParseAddr(r.Address); err == nil && !seen[r.Address] {
				seen[r.Address] = true
				job.Results = append(job.Results, Result{Job: addr, Range: originRange(r.origin)})
			}
			r.origin = ""
			if r.Form == "" && typed && fills(before, behind) {
				r.Form = "v"
				return r.Placeholder(), 0
			}
			return r.inString().Placeholder(), 0
		})
	}
	d.real = settle(d.real)
	if len(job.Secrets) > 0 && are < looks {
		s.r.error(sumBadSecret, job.Range, "The work of %s has a text with %q in it, which is how results and secrets are marked until the job starts. It asks for secrets, so no other "+
			"text may look like one: whoever wrote that could have a secret put where it does not belong.", clip(job.Addr.String()), readingHead)
	}
	if d.sensitive {
		d.shown = settle(d.shown)
	}
	slices.Sort(job.Secrets)
	job.Secrets = slices.Compact(job.Secrets)
}

// waitForResults has jobs wait for the success of those whose results they read, where no edge of theirs makes them wait already.
func (l *loader) waitForResults(jobs []*Job) {
	var byAddr map[Addr]*Job
	for _, j := range jobs {
		if len(j.Results) == 0 {
			continue
		}
		if byAddr == nil {
			byAddr = make(map[Addr]*Job, len(jobs))
			for _, j := range jobs {
				byAddr[j.Addr] = j
			}
		}
		waits := l.waited(j, byAddr)
		for _, r := range j.Results {
			switch {
			case r.Job == j.Addr:
				l.r.error(sumSelfEdge, r.Range, "%s reads its own result, so it would never start. What an execution leaves for the next one is its sync state.", upperFirst(j.Addr.String()))
			case waits[r.Job]:
			default:
				j.waitForResult(r)
			}
		}
	}
}

// waited are the jobs that a job waits for in a way that leaves their results to be read: those of its own edges, and above a
// parent the parents of that, whose own work is done when a child starts.
func (l *loader) waited(j *Job, byAddr map[Addr]*Job) map[Addr]bool {
	waits := map[Addr]bool{}
	for i := range j.Predecessors {
		p := &j.Predecessors[i]
		for _, addr := range p.Jobs {
			waits[addr] = true
		}
		if p.RunIf != RunIfFailure || len(p.Jobs) != 1 {
			continue
		}
		if at := slices.IndexFunc(j.Results, func(r Result) bool { return r.Job == p.Jobs[0] }); at >= 0 {
			l.r.error(sumBadResult, j.Results[at].Range, "%s starts only when %s has failed, see %s, and a job that failed leaves no result.", upperFirst(j.Addr.String()), p.Jobs[0], place(p.Range))
		}
	}
	for open := []*Job{j}; len(open) > 0; {
		at := open[0]
		open = open[1:]
		for i := range at.Parents {
			up := byAddr[at.Parents[i].Job]
			if up != nil && !waits[up.Addr] && up != j {
				waits[up.Addr] = true
				open = append(open, up)
			}
		}
	}
	return waits
}

// waitForResult adds an edge. Jobs that one reference reads are judged together.
func (j *Job) waitForResult(r Result) {
	if n := len(j.Predecessors) - 1; n >= 0 && j.Predecessors[n].Implied && j.Predecessors[n].Range == r.Range {
		j.Predecessors[n].Jobs = append(j.Predecessors[n].Jobs, r.Job)
		return
	}
	j.Predecessors = append(j.Predecessors, Predecessor{Jobs: []Addr{r.Job}, Range: r.Range, Implied: true})
}

// withoutReadings is a text with something harmless in the places of results and secrets, to check the rest of it.
func withoutReadings(text string) string {
	return string(FillReadings([]byte(text), func(Reading) string { return "0" }))
}

// placeOfReading is the place of the first result in a text, else the given one.
func placeOfReading(text string, otherwise hcl.Range) hcl.Range {
	at := otherwise
	FillReadings([]byte(text), func(r Reading) string {
		if r.origin != "" && at == otherwise {
			at = originRange(r.origin)
		}
		return ""
	})
	return at
}
