package embedded

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// syncEvery is how often the journal is brought to the disk, and so how much a power failure may take. A crash of
// the process takes nothing: what is acknowledged is in the system's hands.
const syncEvery = time.Second

// openJournal replays the journal, cuts a torn tail off and compacts when that is worth it.
func (h *host) openJournal() error {
	_ = os.Remove(h.paths.journal + ".new") // what a crash during a compaction left
	f, err := os.OpenFile(h.paths.journal, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	done, err := replay(h.paths.journal, f, info.Size(), h.ds.apply)
	if err != nil {
		_ = f.Close()
		return err
	}
	file := h.options.openFile(f)
	h.journal = &journal{path: h.paths.journal, file: file, size: done.size, appended: done.appended}
	if done.torn > 0 {
		h.log.Warn("the last record of the journal was torn by a crash and is cut off",
			"journal", h.paths.journal, "offset", done.size, "bytes", done.torn)
	}
	if done.size == 0 {
		return h.compact() // writes a new journal of nothing
	}
	if err := file.Truncate(done.size); err != nil {
		return journalError("cut the tail of", h.paths.journal, err)
	}
	if _, err := file.Seek(done.size, 0); err != nil {
		return journalError("read", h.paths.journal, err)
	}
	h.compactEarly()
	return nil
}

// compactEarly compacts when enough has changed. Failing to is no reason not to serve: the journal as it is has
// everything.
func (h *host) compactEarly() {
	if h.journal.appended < compactEarly || h.journal.appended < h.journal.size/2 {
		return
	}
	if err := h.compact(); err != nil {
		h.log.Warn("the journal could not be compacted", "journal", h.paths.journal, "error", err)
	}
}

// compact replaces the journal by a snapshot of the data. The caller holds the mutex, or nobody else is there yet.
func (h *host) compact() error {
	begun := time.Now()
	fresh, err := createJournal(h.paths.journal, h.options.openFile, h.ds.writeSnapshot)
	if err != nil {
		return err
	}
	before := h.journal.size
	_ = h.journal.file.Close()
	h.journal = fresh
	h.log.Debug("compacted the journal", "journal", h.paths.journal, "before", before, "after", fresh.size, "took", time.Since(begun))
	return nil
}

// keep does what is due each second: the disk, the deadlines, the size of the journal.
func (h *host) keep() {
	defer h.work.Done()
	ticks := time.NewTicker(syncEvery)
	defer ticks.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-ticks.C:
			h.upkeep()
		}
	}
}

func (h *host) upkeep() {
	h.mu.Lock()
	if h.failed != nil {
		h.mu.Unlock()
		return
	}
	h.ds.begin(h.effects)
	err := h.commit()
	j := h.journal
	if err == nil {
		err = h.displaced()
	}
	if err == nil && j.appended >= h.options.CompactAt && j.appended >= 2*(j.size-j.appended) {
		if err := h.compact(); err != nil {
			h.log.Warn("the journal could not be compacted", "journal", j.path, "error", err)
		}
	}
	file := h.journal.flush()
	if err != nil {
		h.fail(err)
	}
	h.mu.Unlock()
	if file == nil || err != nil {
		return
	}
	if err := file.Sync(); err != nil && !errors.Is(err, os.ErrClosed) { // closed: compaction has synced it all
		h.mu.Lock()
		h.fail(journalError("sync", h.paths.journal, err))
		h.mu.Unlock()
	}
}

// displaced reports that somebody removed or exchanged the store's files under the running host.
func (h *host) displaced() error {
	if h.journal.replaced() {
		return fmt.Errorf("%s was removed or exchanged while the store was in use", h.journal.path)
	}
	if _, err := os.Lstat(h.paths.socket); err != nil {
		return fmt.Errorf("the socket was removed while the store was in use: %w", err)
	}
	return nil
}
