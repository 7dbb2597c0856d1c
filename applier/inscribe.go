package applier

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// maxCleared bounds how much of an old history one batch removes: it has other companions besides.
const maxCleared = 40

// archiveType is what archives are sealed for, so that none opens as the payload of a job.
const archiveType = "archive of a configuration"

// inscription is the revision that an apply writes into the history. Nil for changes of state by hand, which write none.
type inscription struct {
	Revision
	archive []byte // sealed; nil when there is none, or when the store has it
	begun   bool   // it is in the store
}

// prepareInscription reads the history, under the lock, and makes the revision of this run; a run that keeps rollbacks ends here where
// one stands, and one that repairs what the history has makes none.
func (s *submission) prepareInscription(ctx context.Context) error {
	var h History
	err := s.patient().call(ctx, func(ctx context.Context) (err error) {
		h, err = ReadHistory(ctx, s.client, s.historyOf())
		return err
	})
	if err != nil {
		return err
	}
	if latest := s.run.Latest; latest > 0 {
		if len(h.Revisions) == 0 || h.Revisions[0].Number != latest {
			return ErrNotLatest
		}
		return nil
	}
	i := &inscription{}
	source, archive := s.run.Source, s.run.Archive
	if s.run.Saved {
		source, archive = s.run.Plan.Source, s.run.Plan.Archive
	}
	i.Source = source.Clean()
	i.Who, i.Operation, i.Of = s.run.Who, s.run.Operation, s.run.Rollback
	if i.Source == (planner.Source{}) {
		i.Source.Author = i.Who
	}
	if err := s.archive(i, archive); err != nil {
		return err
	}
	if s.run.KeepRollback {
		if passed := h.PassedOver(i.Source, i.Config); passed != nil {
			passed.Workflow = s.workflow
			return passed
		}
	}
	if h.Archives[i.Config] {
		i.archive = nil
	}
	i.Number = 1
	if len(h.Revisions) > 0 {
		i.Number = h.Revisions[0].Number + 1
	}
	s.inscription, s.history = i, h
	return nil
}

// historyOf is the workflow under whose name the store has the history until this run has carried it over.
func (s *submission) historyOf() string {
	if s.state.Former != "" {
		return s.state.Former
	}
	return s.workflow
}

// archive seals a configuration, and names it.
func (s *submission) archive(i *inscription, archive []byte) error {
	switch {
	case s.run.Plan.Destroy:
		i.Without = "nothing is declared after it"
	case s.run.WithoutArchive != "":
		i.Without = s.run.WithoutArchive
	case archive == nil && s.run.Saved:
		i.Without = "the saved plan had none, or none that the key here opens"
	case archive == nil:
		i.Without = "the configuration was not kept"
	case s.run.Keyring == nil:
		i.Without = "there was no key to seal it with"
	case len(archive) > MaxArchive:
		i.Without = fmt.Sprintf("the configuration has %d KiB compressed, and up to %d KiB are kept", len(archive)>>10, MaxArchive>>10)
	default:
		var err error
		i.Config = ConfigName(s.run.Keyring, archive)
		if i.archive, err = s.run.Keyring.Seal(archiveType, s.state.Lineage.String(), archive); err != nil {
			return err
		}
		i.Size = len(i.archive)
	}
	return nil
}

// ConfigName names a configuration by its archive; "" for none.
func ConfigName(k *conveyor.Keyring, archive []byte) string {
	if k == nil || archive == nil {
		return ""
	}
	sum := k.Digest(append([]byte(archiveType+"\x00"), archive...))
	return hex.EncodeToString(sum[:8])
}

// inscribe is what the first batch of a run writes into the history besides; nothing once that is done.
func (s *submission) inscribe(ctx context.Context) ([]conveyor.Attach, error) {
	i := s.inscription
	if i == nil || i.begun {
		return nil, nil
	}
	if i.At.IsZero() {
		err := s.patient().call(ctx, func(ctx context.Context) (err error) {
			i.At, err = s.client.Now(ctx)
			return err
		})
		if err != nil {
			return nil, err
		}
		i.At = i.At.UTC()
	}
	i.Added, i.Changed, i.Destroyed = s.plan.Summary()
	writes := []conveyor.Attach{i.write(s.workflow)}
	if i.archive != nil {
		writes = append(writes, conveyor.Attach{Key: archivesKey(s.workflow), Field: i.Config, Version: -1, Value: append([]byte("1 "), i.archive...)})
	}
	return append(writes, s.clear()...), nil
}

// inscribed takes note that the batch with the revision was written.
func (s *submission) inscribed() {
	if s.inscription != nil {
		s.inscription.begun = true
	}
}

// clear removes what is beyond the bounds of the history, once i is in it.
func (s *submission) clear() []conveyor.Attach {
	var writes []conveyor.Attach
	kept, size := map[string]bool{}, s.inscription.Size
	kept[s.inscription.Config] = true
	for at, r := range s.history.Revisions {
		if at >= maxRevisions-1 {
			writes = append(writes, conveyor.Attach{Key: revisionsKey(s.workflow), Field: strconv.FormatInt(r.Number, 10), Version: -1})
			continue
		}
		if r.Config == "" || kept[r.Config] {
			continue
		}
		if size += r.Size; size <= maxArchives {
			kept[r.Config] = true
		}
	}
	for name := range s.history.Archives {
		if !kept[name] {
			writes = append(writes, conveyor.Attach{Key: archivesKey(s.workflow), Field: name, Version: -1})
		}
	}
	return writes[:min(len(writes), maxCleared)]
}

// conclude writes the revision once more, with what was done.
func (s *submission) conclude(ctx context.Context) error {
	i := s.inscription
	if i == nil || !i.begun {
		return nil
	}
	done := s.result()
	i.Added, i.Changed, i.Destroyed, i.Complete = done.Added, done.Changed, done.Destroyed, true
	return s.writeMeta(ctx, "history", i.write(s.workflow))
}

// ReadArchive reads the configuration of a revision, as config.Options takes it.
func ReadArchive(ctx context.Context, c *conveyor.Client, k *conveyor.Keyring, workflow string, r Revision) ([]byte, error) {
	if r.Config == "" {
		return nil, fmt.Errorf("revision %d has no configuration to go back to: %s", r.Number, r.Without)
	}
	pipe := c.Redis().Pipeline()
	lineage := pipe.HGet(ctx, c.Prefix()+metaKey(workflow), metaLineage)
	stored := pipe.HGet(ctx, c.Prefix()+archivesKey(workflow), r.Config)
	_, _ = pipe.Exec(ctx) // each command is asked for its own error
	of, err := lineage.Result()
	if err != nil {
		return nil, fmt.Errorf("read the state of workflow %q: %w", workflow, storeError(err, metaKey(workflow)))
	}
	value, err := stored.Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, fmt.Errorf("the configuration of revision %d is not kept any more", r.Number)
	case err != nil:
		return nil, fmt.Errorf("read the configuration of revision %d: %w", r.Number, storeError(err, archivesKey(workflow)))
	}
	archive, err := k.Open(archiveType, unversioned(of), []byte(unversioned(value)))
	if err != nil {
		return nil, fmt.Errorf("open the configuration of revision %d: %w", r.Number, err)
	}
	return archive, nil
}
