package applier

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// Need is what a job asks of a worker. Jobs with equal needs are told about once.
type Need struct {
	Queue string
	Type  string
	KeyID string // of the key that its worker must hold; "" for none
	// Secret is the name of one that its worker must give, "" for none. A job that asks for several has several needs.
	Secret string
	// Worker is the only one that gets it, whichever queues that one serves; "" for any worker of the queue.
	Worker string
	// Started says that a worker has the job: a pause of its queue does not keep it. A worker without a handler for it hands it back.
	Started bool
}

// Unserved tells which needs no live worker meets, and which queues are paused: what waits there waits until somebody
// acts. It only reads.
func Unserved(ctx context.Context, c *conveyor.Client, needs []Need) ([]Warning, error) {
	if len(needs) == 0 {
		return nil, nil
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the workers: %w", err)
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the queues: %w", err)
	}
	return unserved(needs, workers, queues), nil
}

// unserved is Unserved among these workers and queues.
func unserved(needs []Need, workers []conveyor.WorkerInfo, queues []conveyor.QueueInfo) []Warning {
	workers = slices.DeleteFunc(slices.Clone(workers), func(w conveyor.WorkerInfo) bool { return !w.Alive })
	paused := map[string]Warning{}
	for _, q := range queues {
		switch {
		case q.Settings.Paused:
			paused[q.Name] = Warning{Summary: fmt.Sprintf("Queue %q is paused", q.Name),
				Detail: "Its jobs wait until it is resumed: set paused = false in its queue block and apply."}
		case q.ByHand:
			paused[q.Name] = Warning{Summary: fmt.Sprintf("Queue %q is paused by hand", q.Name),
				Detail: "Its jobs wait until it is resumed: `waybill queue resume " + q.Name + "`."}
		}
	}
	needs = slices.Clone(needs)
	slices.SortFunc(needs, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Type, b.Type), cmp.Compare(a.KeyID, b.KeyID), cmp.Compare(a.Secret, b.Secret))
	})
	var warnings []Warning
	for _, n := range slices.Compact(needs) {
		w, missing := unmet(n, workers)
		if stopped, is := paused[n.Queue]; is && !missing && n.Worker == "" && !n.Started {
			w, missing = stopped, true
		}
		if missing && !slices.Contains(warnings, w) {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// unmet finds the first thing that no worker offers: the queue, the type in it, the key for both.
func unmet(n Need, workers []conveyor.WorkerInfo) (Warning, bool) {
	if n.Worker != "" {
		workers = slices.DeleteFunc(slices.Clone(workers), func(w conveyor.WorkerInfo) bool { return w.ID != n.Worker || w.Bridge != "" })
		if len(workers) == 0 {
			return Warning{
				Summary: fmt.Sprintf("Worker %q is not there", n.Worker),
				Detail:  "What is delivered to it waits until it comes, and expires if it has not come within its retention.",
			}, true
		}
		return Warning{}, false
	}
	workers = having(workers, func(w conveyor.WorkerInfo) []string { return w.Queues }, n.Queue)
	if len(workers) == 0 {
		return Warning{
			Summary: fmt.Sprintf("No worker serves queue %q", n.Queue),
			Detail:  "Its jobs wait until one does. Start one with `waybill worker` and the workflow's directory, or apply with -worker.",
		}, true
	}
	workers = having(workers, func(w conveyor.WorkerInfo) []string { return w.Types }, n.Type)
	if len(workers) == 0 {
		return Warning{
			Summary: fmt.Sprintf("No worker of queue %q handles type %q", n.Queue, n.Type),
			Detail:  "Its jobs wait until a worker that has a handler for the type serves the queue.",
		}, true
	}
	if n.KeyID != "" {
		holders := having(workers, func(w conveyor.WorkerInfo) []string { return w.KeyIDs }, n.KeyID)
		if len(holders) == 0 {
			return keyless(n), true
		}
		workers = holders
	}
	if n.Secret == "" || slices.ContainsFunc(workers, func(w conveyor.WorkerInfo) bool { return permits(w, n.Secret) }) {
		return Warning{}, false
	}
	return Warning{
		Summary: fmt.Sprintf("No worker of queue %q gives the secret %s", n.Queue, n.Secret),
		Detail: fmt.Sprintf("Its %s jobs that ask for it wait until a worker that is permitted to give it serves the queue. Start one with `waybill worker -secrets %s`, "+
			"or apply with -worker and that option.", n.Type, n.Secret),
	}, true
}

// permits tells whether a worker gives a secret to jobs.
func permits(w conveyor.WorkerInfo, secret string) bool {
	return slices.ContainsFunc(w.Secrets, func(pattern string) bool { return conveyor.MatchSecret(pattern, secret) })
}

// with is a need for each of these secrets, itself without any.
func (n Need) with(secrets []string) []Need {
	if len(secrets) == 0 {
		return []Need{n}
	}
	needs := make([]Need, len(secrets))
	for i, secret := range secrets {
		needs[i], needs[i].Secret = n, secret
	}
	return needs
}

// keyless tells of a key that no worker holds.
func keyless(n Need) Warning {
	return Warning{
		Summary: fmt.Sprintf("No worker of queue %q holds key %s", n.Queue, n.KeyID),
		Detail: fmt.Sprintf("Its %s jobs are signed or sealed with that key and wait until a worker that has it serves the queue. "+
			"Give the worker that key too, from the WAYBILL_KEY or the key file of the user who applied, or sign them anew with `waybill apply -rekey`.", n.Type),
	}
}

func having(workers []conveyor.WorkerInfo, list func(conveyor.WorkerInfo) []string, name string) []conveyor.WorkerInfo {
	var found []conveyor.WorkerInfo
	for _, w := range workers {
		if slices.Contains(list(w), name) {
			found = append(found, w)
		}
	}
	return found
}

// warn tells, once as long as it lasts, about what keeps jobs waiting that could run now, and when it does so no more.
func (f *follower) warn(ctx context.Context) error {
	var needs []Need
	for _, j := range f.jobs.order {
		started := j.status.State == conveyor.StateRunning
		if started || j.waits() {
			n := Need{Queue: j.record.Queue, Type: j.record.Type, KeyID: f.keyOf(j), Worker: j.status.Inbox(), Started: started}
			needs = append(needs, n.with(j.record.Secrets())...)
		}
	}
	warnings, err := Unserved(ctx, f.client, needs)
	if err != nil {
		return err
	}
	f.warned = retold(f.warned, append(warnings, f.orphans()...), f.mail.post)
	return nil
}

// retold posts which of the warnings were not told before and which of those that were are over, and returns what is told now.
func retold(told map[Warning]bool, warnings []Warning, post func(Event)) map[Warning]bool {
	now := make(map[Warning]bool, len(warnings))
	for _, w := range warnings {
		if !told[w] && !now[w] {
			post(w)
		}
		now[w] = true
	}
	for w := range told {
		if !now[w] {
			post(WarningOver{Warning: w})
		}
	}
	return now
}

// keyOf is the key that a job's worker needs. Records of earlier versions do not name the one that commands are signed with: it is
// taken to be that of the one who applies.
func (f *follower) keyOf(j *watchedJob) string {
	if key := j.record.NeedsKey(); key != "" || !signed(j.record.Type) {
		return key
	}
	return f.keyID
}

// orphans are jobs that wait for a job outside the workflow which nobody has submitted yet.
func (f *follower) orphans() []Warning {
	var warnings []Warning
	for _, j := range f.jobs.order {
		if j.status.State != conveyor.StateHeld {
			continue
		}
		for _, e := range j.record.Edges {
			if f.jobs.byUUID[e.UUID].status.State == conveyor.StateUnknown {
				warnings = append(warnings, Warning{
					Summary: fmt.Sprintf("%s waits for a job that does not exist", j.addr),
					Detail:  fmt.Sprintf("No job with uuid %s is known. It goes on once that job is submitted and has ended.", e.UUID),
				})
			}
		}
	}
	return warnings
}

// warnUnserved is for an apply that does not follow: it tells at once what nobody will run of all that waits now.
func (s *submission) warnUnserved(ctx context.Context) error {
	var needs []Need
	for _, r := range s.plan.Rows {
		written := s.done[r.Addr] != nil && s.done[r.Addr].Action != planner.Rerecord
		if r.Job != nil && (written || r.Live.Status.Waits()) {
			needs = append(needs, NeedsOf(r.Job, s.run.Keyring)...)
		}
	}
	warnings, err := Unserved(ctx, s.client, needs)
	for _, w := range warnings {
		s.mail.post(w)
	}
	return err
}

// NeedsOf is what a declared job asks of its worker. keyring is the applier's, nil for none.
func NeedsOf(j *config.Job, keyring *conveyor.Keyring) []Need {
	n := Need{Queue: j.Queue, Type: j.Type}
	if j.Delivery != nil {
		n.Worker = j.Delivery.Worker
	}
	if j.Sensitive || planner.Signed(j) {
		n.KeyID = keyring.ID()
	}
	return n.with(j.Secrets)
}
