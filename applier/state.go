package applier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// statusChunk bounds how many statuses one read asks for, so that no reply holds the server or the client's memory.
const statusChunk = 5000

// ReadState reads a workflow's records and the live status of each record's job. It sends plain reads alone: no script,
// no lock, no write of any kind. The records are of one moment; a status may be of a moment later.
func ReadState(ctx context.Context, c *conveyor.Client, workflow string) (*planner.State, error) {
	snap, err := readSnapshot(ctx, c, workflow)
	if err != nil {
		return nil, err
	}
	return snap.state, nil
}

// ReadStateFor is ReadState for a plan of w, which may have its state under a former name still. If w declares a schedule, it also
// reads the store's clock, by which the plan tells when that fires.
func ReadStateFor(ctx context.Context, c *conveyor.Client, w *config.Workflow) (*planner.State, error) {
	snap, err := readSnapshotOf(ctx, c, w)
	if err != nil {
		return nil, err
	}
	if err := readImports(ctx, c, w, snap.state); err != nil {
		return nil, err
	}
	return snap.state, errors.Join(readClock(ctx, c, w, snap.state), readPauses(ctx, c, w, snap.state))
}

// ReadRecordsFor is ReadStateFor without how the jobs stand, which the state assumes (planner.State.Assume).
func ReadRecordsFor(ctx context.Context, c *conveyor.Client, w *config.Workflow) (*planner.State, error) {
	snap, err := readRecordsOf(ctx, c, w)
	if err != nil {
		return nil, err
	}
	snap.state.Assume()
	if err := readImports(ctx, c, w, snap.state); err != nil { // of these nothing can be assumed
		return nil, err
	}
	return snap.state, readClock(ctx, c, w, snap.state)
}

func readClock(ctx context.Context, c *conveyor.Client, w *config.Workflow, s *planner.State) (err error) {
	if slices.ContainsFunc(w.Jobs, func(j *config.Job) bool { return j.Schedule != nil }) {
		s.Now, err = c.Now(ctx)
	}
	return err
}

// readPauses fills in which of the declared schedules somebody has paused by hand.
func readPauses(ctx context.Context, c *conveyor.Client, w *config.Workflow, s *planner.State) error {
	var uuids, addresses []string
	for _, j := range w.Jobs {
		if j.Schedule == nil {
			continue
		}
		address := j.Addr.String()
		if r := s.Records[address]; r != nil && s.Live[address].Status == planner.Template {
			uuids, addresses = append(uuids, r.UUID.String()), append(addresses, address)
		}
	}
	for from := 0; from < len(uuids); from += statusChunk {
		end := min(from+statusChunk, len(uuids))
		templates, err := c.Templates(ctx, uuids[from:end])
		if err != nil {
			return err
		}
		for i, t := range templates {
			if t.Paused {
				live := s.Live[addresses[from+i]]
				live.Paused = true
				s.Live[addresses[from+i]] = live
			}
		}
	}
	return nil
}

// snapshot is a state with what only the applier needs of it.
type snapshot struct {
	state *planner.State
	meta  meta
}

func readSnapshot(ctx context.Context, c *conveyor.Client, workflow string) (*snapshot, error) {
	return readSnapshotOf(ctx, c, &config.Workflow{Name: workflow})
}

func readSnapshotOf(ctx context.Context, c *conveyor.Client, w *config.Workflow) (*snapshot, error) {
	snap, err := readRecordsOf(ctx, c, w)
	if err != nil {
		return nil, err
	}
	if err := readLive(ctx, c, snap.state); err != nil {
		return nil, fmt.Errorf("read the jobs of workflow %q: %w", w.Name, err)
	}
	return snap, nil
}

// readRecords reads a snapshot but for how the jobs stand.
func readRecords(ctx context.Context, c *conveyor.Client, workflow string) (*snapshot, error) {
	pipe := c.Redis().Pipeline()
	recordsCmd := pipe.HGetAll(ctx, c.Prefix()+stateKey(workflow))
	metaCmd := pipe.HGetAll(ctx, c.Prefix()+metaKey(workflow))
	queues := c.QueuesIn(ctx, pipe)
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	fields, err := metaCmd.Result()
	if err != nil {
		return nil, fmt.Errorf("read the state of workflow %q: %w", workflow, storeError(err, metaKey(workflow)))
	}
	values, err := recordsCmd.Result()
	if err != nil {
		return nil, fmt.Errorf("read the state of workflow %q: %w", workflow, storeError(err, stateKey(workflow)))
	}
	snap, err := decodeState(workflow, values, fields)
	if err != nil {
		return nil, err
	}
	infos, err := queues()
	if err != nil {
		return nil, fmt.Errorf("read the queues of workflow %q: %w", workflow, err)
	}
	setQueues(snap.state, snap.meta.queues, infos)
	return snap, nil
}

// decodeState makes a state of a workflow's two hashes, without how its jobs stand.
func decodeState(workflow string, values, fields map[string]string) (*snapshot, error) {
	m, err := parseMeta(metaKey(workflow), fields)
	if err != nil {
		return nil, fmt.Errorf("read the state of workflow %q: %w", workflow, err)
	}
	s := &planner.State{
		Workflow: workflow, Lineage: m.lineage, Floor: m.floor, Outputs: m.outputs,
		Records: make(map[string]*planner.Record, len(values)),
	}
	for address, value := range values {
		r, err := decodeRecord(address, value)
		if err != nil {
			return nil, fmt.Errorf("read the state of workflow %q: %q: %w", workflow, stateKey(workflow), err)
		}
		s.Records[address] = r
	}
	return &snapshot{state: s, meta: m}, nil
}

// ReadRecord reads one record of a workflow; nil where there is none.
func ReadRecord(ctx context.Context, c *conveyor.Client, workflow string, addr config.Addr) (*planner.Record, error) {
	value, err := c.Redis().HGet(ctx, c.Prefix()+stateKey(workflow), addr.String()).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of workflow %q: %w", addr, workflow, storeError(err, stateKey(workflow)))
	}
	return decodeRecord(addr.String(), value)
}

func decodeRecord(address, value string) (*planner.Record, error) {
	if _, err := config.ParseAddr(address); err != nil {
		return nil, fmt.Errorf("%w: field %q is no address of a job: %w; nothing was changed. "+
			"Remove the field, or use another namespace", conveyor.ErrCorrupt, address, err)
	}
	return planner.DecodeRecord(address, value)
}

// readLive fills in Live and Earlier.
func readLive(ctx context.Context, c *conveyor.Client, s *planner.State) error {
	uuids := make([]string, 0, len(s.Records))
	addresses := make([]string, 0, len(s.Records))
	var earlier []string
	for address, r := range s.Records {
		addresses = append(addresses, address)
		uuids = append(uuids, r.UUID.String())
		for _, e := range r.Edges {
			if e.Kind == planner.EdgeSuccessor {
				earlier = append(earlier, e.UUID)
			}
		}
	}
	statuses, err := statusesOf(ctx, c, slices.Concat(uuids, earlier))
	if err != nil {
		return err
	}
	s.Live = make(map[string]planner.Live, len(uuids))
	var unhappy []conveyor.Status
	for i, address := range addresses {
		if statuses[i].State != conveyor.StateUnknown {
			s.Live[address] = liveOf(statuses[i])
		}
		switch statuses[i].State {
		case conveyor.StateFailed, conveyor.StateOnHold, conveyor.StateSkipped:
			unhappy = append(unhappy, statuses[i])
		}
	}
	if len(unhappy) > 0 {
		readCauses(ctx, c, s, unhappy)
	}
	s.Earlier = make(map[string]planner.Live, len(earlier))
	for i, id := range earlier {
		if status := statuses[len(uuids)+i]; status.State != conveyor.StateUnknown {
			s.Earlier[id] = liveOf(status)
		}
	}
	return nil
}

// maxCauses is how many failures are read with a state: enough for people, whatever failed.
const maxCauses = 20

// readCauses fills in why jobs ended as they did, for people: the upstream that excluded a skipped job, and the texts of the
// first failures by address. A text that cannot be read is left out.
func readCauses(ctx context.Context, c *conveyor.Client, s *planner.State, jobs []conveyor.Status) {
	names := make(map[string]string, len(s.Records))
	for address, r := range s.Records {
		names[r.UUID.String()] = address
	}
	slices.SortFunc(jobs, func(a, b conveyor.Status) int { return strings.Compare(names[a.UUID], names[b.UUID]) })
	read := 0
	for _, job := range jobs {
		live := s.Live[names[job.UUID]]
		switch {
		case job.State == conveyor.StateSkipped:
			live.Cause = names[job.Cause]
		case job.ChildFailed || read == maxCauses:
			continue
		default:
			read++
			live.Cause, _ = c.Failure(ctx, job.UUID)
			live.Cause = namedHolder(live.Cause, func(uuid string) string { return names[uuid] })
		}
		s.Live[names[job.UUID]] = live
	}
}

func statusesOf(ctx context.Context, c *conveyor.Client, uuids []string) ([]conveyor.Status, error) {
	all := make([]conveyor.Status, 0, len(uuids))
	for chunk := range slices.Chunk(uuids, statusChunk) {
		statuses, err := c.Statuses(ctx, chunk)
		if err != nil {
			return nil, err
		}
		all = append(all, statuses...)
	}
	return all, nil
}

// setQueues fills in the settings of the queues that belong to the workflow, and of those that belong to others. What was
// paused by hand is nobody's declaration: it is no difference, and no apply changes it.
func setQueues(s *planner.State, names []string, infos []conveyor.QueueInfo) {
	if len(names) > 0 {
		s.Queues = make(map[string]planner.QueueSettings, len(names))
	}
	for _, name := range names {
		s.Queues[name] = planner.QueueSettings{Weight: 1}
	}
	for _, q := range infos {
		settings := planner.QueueSettings{
			Concurrency: q.Settings.Concurrency, Weight: max(q.Settings.Weight, 1), Paused: q.Settings.Paused,
			Fair: q.Settings.Fair, KeepFor: q.Settings.KeepFor, KeepCount: q.Settings.KeepCount,
		}
		if _, ours := s.Queues[q.Name]; ours {
			s.Queues[q.Name] = settings
		}
		others := slices.DeleteFunc(q.DeclaredBy, func(w string) bool { return w == s.Workflow })
		if len(others) > 0 {
			if s.Shared == nil {
				s.Shared = map[string]planner.SharedQueue{}
			}
			s.Shared[q.Name] = planner.SharedQueue{Settings: settings, DeclaredBy: others}
		}
	}
}
