package conveyor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// readAtOnce is how many results one command reads: up to 1 MiB each.
const readAtOnce = 50

// Results returns what the successful attempts of jobs stored, in order, nil for a job without a result: one command for every
// fifty.
func (c *Client) Results(ctx context.Context, uuids []string) ([][]byte, error) {
	key := c.keys.results()
	out := make([][]byte, 0, len(uuids))
	for part := range slices.Chunk(uuids, readAtOnce) {
		values, err := c.rdb.HMGet(ctx, key, part...).Result()
		if err != nil {
			return nil, read(ctx, "read "+key, err)
		}
		for _, v := range values {
			if text, ok := v.(string); ok {
				out = append(out, []byte(text))
			} else {
				out = append(out, nil)
			}
		}
	}
	return out, nil
}

// fill puts the values that a job reads of other jobs' results, and the secrets that it asks for, into its payload. A result that is
// missing or does not fit fails the job for good, since reading it again would find the same; a secret that is missing may be there
// for the next attempt. A store that does not answer is asked again until ctx ends.
func (w *Worker) fill(ctx context.Context, a *Attempt) error {
	job := a.job
	list, err := readings(job.GetPayload(), job.GetResults(), job.GetSecrets())
	if err != nil || len(list) == 0 {
		return Permanent(err)
	}
	secrets, err := w.secrets(ctx, job, list)
	if err != nil {
		return err
	}
	a.hide(slices.Collect(maps.Values(secrets))...)
	for pause := newPause(); ; {
		err := w.fillOnce(ctx, job, list, secrets)
		if !errors.Is(err, ErrUnavailable) {
			return err
		}
		if !pause.wait(ctx) {
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
	}
}

// fillOnce reads a few results at a time and keeps only what is wanted of them.
func (w *Worker) fillOnce(ctx context.Context, job *wire.Job, list []found, secrets map[string]string) error {
	uuids := readFrom(list)
	names, err := w.readable(ctx, job, uuids)
	if err != nil {
		return err
	}
	values, size := make([][]byte, len(list)), 0
	for i := range list {
		r := &list[i].Reading
		if r.Secret == "" {
			continue
		}
		if values[i], err = textTree(secrets[r.Secret]).value(r); err != nil {
			return Permanent(err)
		}
		if size += len(values[i]); size > MaxPayload {
			return errFilled
		}
	}
	for part := range slices.Chunk(uuids, readAtOnce) {
		results, err := w.resultsOf(ctx, names, part)
		if err != nil {
			return err
		}
		trees := make(map[string]*tree, len(part))
		for i := range list {
			r := &list[i].Reading
			result, ours := results[r.UUID]
			switch {
			case !ours:
				continue
			case result == nil:
				return w.explain(ctx, r, names[r.UUID])
			case trees[r.UUID] == nil:
				t, ok := newTree(result)
				if !ok {
					return Permanent(fmt.Errorf("it reads %s, and that job's result is no JSON", r.where()))
				}
				trees[r.UUID] = t
			}
			if values[i], err = trees[r.UUID].value(r); err != nil {
				return Permanent(err)
			}
			if size += len(values[i]); size > MaxPayload {
				return errFilled
			}
		}
	}
	filled := put(job.GetPayload(), list, values)
	if len(filled) > MaxPayload {
		return errFilled
	}
	job.Payload, job.Results, job.Secrets = filled, nil, nil // filled once: what came out of a result is text from now on
	return nil
}

// errFilled is of a payload that only the results and secrets make too large.
var errFilled = Permanent(fmt.Errorf("with the results and secrets that it reads, the payload is %w: the limit is %d bytes; let the other job write what is large elsewhere, and its place into the result",
	ErrTooLarge, MaxPayload))

// readable tells under which uuids the result of each job may be stored. A template has none of its own: what the occurrence of
// a template reads of it is that of the occurrence in the same cycle. Of an upstream that runs once it is its own.
func (w *Worker) readable(ctx context.Context, job *wire.Job, uuids []string) (map[string][]string, error) {
	names := make(map[string][]string, len(uuids))
	tick, recurs := TickOf(job)
	if !recurs || len(uuids) == 0 {
		for _, uuid := range uuids {
			names[uuid] = []string{uuid}
		}
		return names, nil
	}
	own, err := w.engine.Statuses(ctx, []string{job.GetUuid()})
	if err != nil {
		return nil, err
	}
	for _, uuid := range uuids {
		names[uuid] = []string{OccurrenceUUID(uuid, own[0].Root, tick), uuid}
	}
	return names, nil
}

// resultsOf reads the results of jobs, by the uuid under which they are read.
func (w *Worker) resultsOf(ctx context.Context, names map[string][]string, uuids []string) (map[string][]byte, error) {
	var all []string
	for _, uuid := range uuids {
		all = append(all, names[uuid]...)
	}
	got, err := w.engine.Results(ctx, all)
	if err != nil {
		return nil, err
	}
	results := make(map[string][]byte, len(uuids))
	for _, uuid := range uuids {
		results[uuid] = nil
		for range names[uuid] {
			if results[uuid] == nil {
				results[uuid] = got[0]
			}
			got = got[1:]
		}
	}
	return results, nil
}

// explain says why there is no result: how the other job stands tells.
func (w *Worker) explain(ctx context.Context, r *Reading, names []string) error {
	statuses, err := w.engine.Statuses(ctx, names)
	if err != nil {
		return err
	}
	s := statuses[0]
	for _, other := range statuses[1:] {
		if s.State == StateUnknown {
			s = other
		}
	}
	what := ""
	switch {
	case s.State == StateUnknown:
		what = "that job is not in the store any more"
	case s.State == StateCompleted, s.State == StateClosing, s.ChildFailed:
		what = "that job left no result: it writes one to WAYBILL_OUTPUT, or a Go handler calls SetResult"
	case s.State.Ended():
		what = fmt.Sprintf("that job is %s, and only success leaves a result", s.State)
	default:
		what = fmt.Sprintf("that job is %s and has no result yet: wait for it with an edge", s.State)
	}
	return Permanent(fmt.Errorf("it reads %s: %s", r.where(), what))
}
