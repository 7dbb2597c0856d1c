package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// place is where a command about jobs and queues looks: the namespace of a workflow, or with -namespace any.
type place struct {
	redis     redisFlag
	namespace string
}

func (p *place) flags(cmd *cobra.Command) {
	p.redis.flags(cmd)
	cmd.Flags().StringVar(&p.namespace, "namespace", "", "Without a workflow: the Redis key namespace `NAME`.")
}

// open opens the store of a place.
func (p *place) open(ctx context.Context, a *app, paths []string, how access) (*store, error) {
	if p.namespace != "" {
		if a.workspace != "" {
			return nil, fail("Invalid option", "-workspace is one of a workflow, and none is meant here. Name its directory instead of a namespace.")
		}
		if len(paths) > 0 {
			return nil, fail("Invalid option", "-namespace is for work without a workflow, and %q names one.", paths)
		}
		return a.open(ctx, p.redis, &config.Workflow{Namespace: p.namespace}, how)
	}
	w, err := a.load(paths, &variables{}, settingsOnly, nil)
	if err != nil {
		return nil, err
	}
	return a.open(ctx, p.redis, w, how)
}

// roll gives the jobs of a workflow their addresses. It is empty where there is no workflow, or its state cannot be read.
type roll struct {
	state       *planner.State    // nil: none
	addresses   map[string]string // of recorded jobs, by uuid
	occurrences map[string]string // of occurrences that were met: they have no records
	former      map[string]string // what those are called that have no address: occurrences of deleted templates, see recall, and deliveries
	broadcasts  []string          // uuids of recorded jobs that may be for all workers
	delivered   map[string]string // of what workers got of these and was met: the uuid of the job for all
	problem     error             // why the state could not be read
}

func callRoll(ctx context.Context, s *store) roll {
	r := roll{addresses: map[string]string{}, occurrences: map[string]string{}, former: map[string]string{}, delivered: map[string]string{}}
	if s.workflow == "" {
		return r
	}
	r.state, r.problem = applier.ReadState(ctx, s.client, s.workflow)
	if r.problem != nil {
		r.state = nil
		return r
	}
	for address, record := range r.state.Records {
		r.addresses[record.UUID.String()] = address
		if delivers(record) {
			r.broadcasts = append(r.broadcasts, record.UUID.String())
		}
	}
	return r
}

// meet notes the occurrences among jobs, and what workers got of one for all, so that they are named from then on.
func (r roll) meet(jobs ...conveyor.Status) {
	for _, s := range jobs {
		if template := r.addresses[s.Template]; template != "" {
			r.occurrences[s.UUID] = conveyor.OccurrenceName(template, s.Tick)
		}
		for _, uuid := range r.broadcasts {
			if s.Inbox() != "" && conveyor.DeliveryUUID(uuid, s.Inbox()) == s.UUID {
				r.delivered[s.UUID], r.former[s.UUID] = uuid, deliveryName(r.addresses[uuid], s)
			}
		}
	}
}

// address is that of a recorded job, or of an occurrence of one that was met; "" for others.
func (r roll) address(uuid string) string {
	if address := r.addresses[uuid]; address != "" {
		return address
	}
	return r.occurrences[uuid]
}

// name is a job as people know it: by its address, or the one that its template had, else its uuid.
func (r roll) name(uuid string) string {
	if name := r.called(uuid); name != "" {
		return name
	}
	return uuid
}

// called is name, and "" for a job that has none.
func (r roll) called(uuid string) string { return cmp.Or(r.address(uuid), r.former[uuid]) }

// recalled bounds how many jobs recall reads.
const recalled = 100

// recall notes what occurrences are called whose templates are deleted. That stands in those whose bytes the store still has, which
// live or have failed; the others of the template are called likewise. It is for people: where it cannot be read, they have their uuids.
func (r roll) recall(ctx context.Context, s *store, jobs []conveyor.Listed) {
	templates := map[string]string{}
	n := 0
	for _, j := range jobs {
		if j.Template == "" || j.State.Ended() && j.State != conveyor.StateFailed || r.address(j.UUID) != "" || templates[j.Template] != "" || n == recalled {
			continue
		}
		n++
		if job, _, err := s.client.Get(ctx, j.UUID); err == nil && job.GetName() != "" {
			templates[j.Template] = job.GetName()
		}
	}
	for _, j := range jobs {
		if name := templates[j.Template]; name != "" {
			r.former[j.UUID] = conveyor.OccurrenceName(name, j.Tick)
		}
	}
}

// named puts the address behind each uuid of a sentence that has one.
func (r roll) named(sentence string) string {
	words := strings.Split(sentence, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ",;:.")
		if address := r.address(bare); address != "" {
			words[i] = bare + " (" + address + ")" + word[len(bare):]
		}
	}
	return strings.Join(words, " ")
}

// target takes the job that a command is about out of its arguments: an address, or a uuid. The rest are paths.
func target(command string, args []string) (job string, paths []string, err error) {
	if len(args) == 0 {
		return "", nil, fail("Wrong number of arguments", "%s takes one job: an address such as job.load, 'job.load[\"eu\"]' or job.nightly@latest, or a uuid.", command)
	}
	for i, arg := range args {
		if strings.HasPrefix(arg, "job.") || strings.HasPrefix(arg, "module.") {
			return arg, slices.Delete(slices.Clone(args), i, i+1), nil
		}
	}
	return args[0], args[1:], nil
}

// find is the uuid of a target.
func (r roll) find(ctx context.Context, s *store, job string) (string, error) {
	if template, tick, ok := splitTick(job); ok {
		return r.findOccurrence(ctx, s, template, tick)
	}
	if strings.HasPrefix(job, "job.") || strings.HasPrefix(job, "module.") {
		addr, err := config.ParseAddr(job)
		if err != nil {
			return "", fail("Invalid address", "%v.", err)
		}
		if r.problem != nil {
			return "", r.problem
		}
		if r.state == nil {
			return "", fail("No such job", "An address belongs to a workflow: name its directory, or give the uuid of the job.")
		}
		if record := r.state.Records[addr.String()]; record != nil {
			return record.UUID.String(), nil
		}
		return "", unknownJob(addr, r.state)
	}
	statuses, err := s.client.Statuses(ctx, []string{job})
	if err != nil {
		return "", err
	}
	r.meet(statuses...)
	if statuses[0].State != conveyor.StateUnknown {
		return job, nil
	}
	uuid, err := r.unknownUUID(ctx, s, job)
	if err == nil {
		if statuses, err = s.client.Statuses(ctx, []string{uuid}); err == nil {
			r.meet(statuses...)
		}
	}
	return uuid, err
}

// unknownUUID takes the beginning of a uuid for the whole, if only one job is meant, and else names near ones.
func (r roll) unknownUUID(ctx context.Context, s *store, job string) (string, error) {
	var uuids, begun []string
	after := ""
	for len(uuids) < conveyor.MaxListLimit {
		page, err := s.client.List(ctx, conveyor.ListOptions{After: after})
		if err != nil {
			return "", err
		}
		if len(page) == 0 {
			break
		}
		for _, l := range page {
			uuids = append(uuids, l.UUID)
			if len(job) >= 4 && strings.HasPrefix(l.UUID, job) {
				begun = append(begun, l.UUID)
			}
		}
		after = page[len(page)-1].UUID
	}
	if len(begun) == 1 {
		return begun[0], nil
	}
	hint := fmt.Sprintf("Run %q for the list.", "waybill job list")
	if near := nearest(job, uuids); near != "" {
		hint = fmt.Sprintf("Did you mean %s?", r.named(near))
	}
	if len(begun) > 1 {
		hint = fmt.Sprintf("%d jobs begin so: %s.", len(begun), strings.Join(begun[:min(len(begun), 3)], ", "))
	}
	return "", fail("No such job", "Namespace %q has no job %s. %s", s.client.Namespace(), job, hint)
}

// refusedBy says why a change of one job was not made.
func (r roll) refusedBy(ctx context.Context, s *store, verb, uuid string, err error) error {
	if !errors.Is(err, conveyor.ErrState) && !errors.Is(err, conveyor.ErrNotFound) {
		return err
	}
	statuses, readErr := s.client.Statuses(ctx, []string{uuid})
	if readErr != nil {
		return err
	}
	r.meet(statuses...)
	return r.refused(verb, statuses[0])
}

func (r roll) refused(verb string, s conveyor.Status) error {
	return fail("Not possible in this state", "%s is %s: there is nothing to %s. %s", r.name(s.UUID), stateText(s), verb, possible(s))
}

// possible says what can be done to a job as it stands.
func possible(s conveyor.Status) string {
	switch {
	case s.State == conveyor.StateTemplate:
		return "It is never run itself: \"waybill job run\" makes a cycle of it, \"waybill job pause\" stops it."
	case s.State == conveyor.StateFailed && !s.ChildFailed:
		return "It can be retried."
	case s.State == conveyor.StateOnHold:
		return "It can be released or cancelled."
	case s.State.Ended() && s.Template != "":
		return "It is over; \"waybill job run\" makes another cycle of its template."
	case s.State.Ended():
		return "It is over; applying its workflow again with -replace makes a new job of it."
	case s.State == conveyor.StateUnknown:
		return "Nothing is left of it."
	}
	return "It can be cancelled."
}

// stateText is a state in words.
func stateText(s conveyor.Status) string {
	switch {
	case s.ChildFailed:
		return "failed through its children"
	case s.CancelRequested && !s.State.Ended():
		return s.State.String() + ", told to stop"
	case s.State == conveyor.StateClosing:
		return "waiting for its children"
	}
	return s.State.String()
}

// record is what the state holds of a job; nil for one that is not recorded.
func (r roll) record(uuid string) *planner.Record {
	if r.state == nil {
		return nil
	}
	return r.state.Records[r.addresses[uuid]]
}
