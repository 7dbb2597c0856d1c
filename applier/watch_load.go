package applier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
)

// load reads how everything stands, tells what is new of it, and goes on from there.
func (w *watcher) load(ctx context.Context) error {
	survey, err := w.client.Survey(ctx)
	if err != nil {
		return err
	}
	now, err := w.client.Now(ctx)
	if err != nil {
		return err
	}
	w.ahead = time.Until(now)
	if n := len(survey.Damaged); n > 0 {
		w.warn(Warning{Summary: "Some jobs cannot be read", Detail: fmt.Sprintf("%d entries are damaged and left out; `waybill doctor` says more. The first: %s.", n, survey.Damaged[0])})
	}
	slices.SortFunc(survey.Jobs, compareAge)
	at := Position{Seq: survey.Seq()}
	there := make(map[string]bool, len(survey.Jobs))
	for _, s := range survey.Jobs {
		there[s.UUID] = true
		if j := w.jobs[s.UUID]; j == nil || j.status != s {
			w.see(j, s, at, time.Time{})
		}
	}
	for id, j := range w.jobs {
		if !there[id] && j.status.State != conveyor.StateUnknown {
			w.see(j, conveyor.Status{UUID: id}, at, time.Time{})
		}
	}
	w.survey, survey.Jobs = survey, nil
	if err := w.readFlows(ctx, true); err != nil {
		w.survey = nil // all of it once more
		return err
	}
	if w.survey == nil {
		return nil
	}
	w.tell(ctx)
	w.readProgress(ctx)
	w.lookedAt, w.turnedAt = time.Time{}, time.Time{}
	return w.turn(ctx)
}

// readFlows reads the states that have changed, or all, and tells the lists of jobs that are new.
func (w *watcher) readFlows(ctx context.Context, all bool) error {
	serials, err := readWorkflows(ctx, w.client)
	if err != nil {
		return err
	}
	if len(serials) == 0 && !w.searched {
		names, err := searchWorkflows(ctx, w.client)
		if err != nil {
			return err
		}
		for _, name := range names {
			w.flow(name).unlisted = true
		}
	}
	w.searched, w.due = true, false
	for name := range serials {
		w.flow(name).unlisted = false
	}
	for name, f := range w.flows { // before others are read: a workflow that is gone may live on as one of these
		if _, listed := serials[name]; !listed && !f.unlisted {
			w.release(f, nil)
			f.gone = true
		}
	}
	read := false
	for name, f := range w.flows {
		serial := serials[name]
		switch {
		case f.gone:
		case all || serial != f.serial || f.problem != "" && time.Since(f.readAt) >= problemEvery:
			if pause := min(10*f.took, maxPause); !all && time.Since(f.readAt) < pause {
				w.due = true
				continue
			}
			if err := w.readFlow(ctx, f, serial); err != nil {
				return err
			}
			read = true
		}
	}
	if read { // a job that was just added is not known as yet, and its event is in the log
		for range drainsAtMost {
			seq := w.survey.Seq()
			if err := w.read(ctx, 0); err != nil || w.survey == nil {
				return err
			}
			if w.survey.Seq() == seq {
				break
			}
		}
	}
	for j := range w.early {
		if j.flow == nil && !w.due {
			delete(w.early, j)
			w.tally(j, 1)
			w.loose.changed(j)
			w.rehome(j.status.UUID)
		}
	}
	w.tell(ctx) // of the lists as they were
	w.tellFlows(ctx)
	return nil
}

// tellFlows tells the lists of jobs that are new. The last of a workflow's own events comes before the list without it, the
// first after the list with it.
func (w *watcher) tellFlows(ctx context.Context) {
	names := sortedKeys(w.flows)
	for _, name := range names {
		f := w.flows[name]
		if !f.told && len(f.order()) == 0 {
			f.told = true
			if w.shows(f) {
				w.post(f, Following{At: Position{Seq: w.survey.Seq()}})
				w.tellOccurrences(ctx, f)
			}
		}
		if f.gone {
			delete(w.flows, name)
			w.locks.drop(name)
		}
	}
	w.tellSeen(true)
	for _, name := range names {
		if f := w.flows[name]; f != nil && !f.told {
			f.told = true
			if w.shows(f) {
				w.post(f, f.jobs.following(Position{Seq: w.survey.Seq()}))
				w.tellFailed(ctx, f)
				w.tellOccurrences(ctx, f)
			}
		}
	}
}

// tellFailed tells why the failed jobs of a list have failed.
func (w *watcher) tellFailed(ctx context.Context, f *flow) {
	var failed []*watchedJob
	var uuids []string
	for _, j := range f.order() {
		if j.status.State == conveyor.StateFailed && !j.status.ChildFailed && len(failed) < maxTexts {
			failed, uuids = append(failed, j), append(uuids, j.status.UUID)
		}
	}
	texts, err := w.client.Failures(ctx, uuids)
	if err != nil {
		return // as everywhere: texts are for people, and told where they can be read
	}
	for i, j := range failed {
		w.post(f, JobChanged{Addr: j.addr, Status: j.status, Seq: w.survey.Seq(), At: j.status.Ended, Failure: w.named(texts[i])})
	}
}

// tell tells the changes that were noted, with texts where attempts have failed.
func (w *watcher) tell(ctx context.Context) {
	changes := w.told
	w.told = nil
	var uuids []string
	for _, t := range changes {
		if t.failed {
			uuids = append(uuids, t.event.Status.UUID)
		}
	}
	var texts []string
	if len(uuids) > 0 {
		texts, _ = w.client.Failures(ctx, uuids) // without them it is told as well
	}
	tails := 0
	for _, t := range changes {
		if t.failed && len(texts) > 0 {
			t.event.Failure = w.named(texts[0])
			texts = texts[1:]
			if tails++; tails <= maxTails {
				t.event.LogTail = logEnd(ctx, w.client, t.event.Status.UUID, t.fence)
			}
		}
		if t.occurrence {
			w.post(t.flow, OccurrenceChanged{t.event})
			continue
		}
		w.post(t.flow, t.event)
	}
}

// named puts addresses into the text of a failure.
func (w *watcher) named(text string) string {
	return namedHolder(text, w.nameOf)
}

// readProgress tells how far the jobs are that ran before the watch began.
func (w *watcher) readProgress(ctx context.Context) {
	var running []*watchedJob
	for j := range w.runs {
		if w.shows(j.flow) {
			running = append(running, j)
		}
	}
	for _, j := range progressOf(ctx, w.client, running) {
		w.news[j] = true
	}
	w.tellProgress(time.Now())
}

// tellProgress tells how far jobs are, each once a second at most.
func (w *watcher) tellProgress(now time.Time) {
	told := 0
	for j := range w.news {
		if now.Sub(j.progressAt) < progressEvery || told == maxProgress {
			continue
		}
		told++
		j.progressAt = now
		delete(w.news, j)
		if w.shows(j.flow) {
			w.post(j.flow, JobProgress{Addr: j.addr, UUID: j.status.UUID, Progress: j.progress})
		}
	}
}

// warn tells something about the namespace as a whole, once until it is over.
func (w *watcher) warn(e Warning) { w.mail.post(e) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
