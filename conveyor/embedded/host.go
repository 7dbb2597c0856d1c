package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// drainGrace bounds how long a host that hands over waits for clients to read their last replies.
const drainGrace = 2 * time.Second

// host serves one store to this process and to those that join: it owns the lock, the journal and the data in
// memory. A host without a journal serves a copy that nothing is written to.
type host struct {
	options Options
	log     *slog.Logger
	paths   paths
	lock    *flock.Flock
	ln      net.Listener

	stop     chan struct{} // closed when the host begins to end
	stopOnce sync.Once
	ended    chan struct{} // closed when lock and socket are free again
	work     sync.WaitGroup

	mu       sync.Mutex // one command at a time, in the order of the journal
	ds       *dataset
	journal  *journal // nil for a copy
	effects  *record
	reply    []byte // of the last run
	waiting  waitlist
	sessions map[*session]struct{}
	draining bool  // no new sessions
	failed   error // why no command is executed any more
}

// openHost reads the journal and makes the socket; start begins to serve. The caller holds lock, which the host
// frees when it ends.
func openHost(p paths, lock *flock.Flock, o Options) (_ *host, err error) {
	h := newHost(p, o)
	h.lock = lock
	defer func() {
		if err != nil && h.ds != nil {
			h.ds.close()
			if h.journal != nil {
				_ = h.journal.file.Close()
			}
		}
	}()
	begun := time.Now()
	if h.ds, err = newDataset(o.now); err != nil {
		return nil, err
	}
	if err := h.openJournal(); err != nil {
		return nil, err
	}
	h.ds.touched = h.waiting.touch
	if h.ln, err = listen(p.socket); err != nil {
		return nil, err
	}
	writeHostNote(p)
	h.log.Info("hosting the embedded store", "dir", p.dir, "journal_bytes", h.journal.size, "took", time.Since(begun))
	return h, nil
}

func (h *host) start() {
	h.work.Add(2)
	go h.accept()
	go h.keep()
}

// copyHost serves what the journal holds, without writing anything anywhere. No journal is an empty store.
func copyHost(p paths, o Options) (*host, error) {
	h := newHost(p, o)
	var err error
	if h.ds, err = newDataset(o.now); err != nil {
		return nil, err
	}
	f, err := os.Open(p.journal)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return h, nil
	case err != nil:
		h.ds.close()
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		_, err = replay(p.journal, f, info.Size(), h.ds.apply)
	}
	if err != nil {
		h.ds.close()
		return nil, err
	}
	return h, nil
}

func newHost(p paths, o Options) *host {
	return &host{
		options: o, log: o.Logger, paths: p,
		stop: make(chan struct{}), ended: make(chan struct{}),
		effects: newRecord(kindEffects), sessions: map[*session]struct{}{},
	}
}

// accept hands joining processes to sessions.
func (h *host) accept() {
	defer h.work.Done()
	for {
		conn, err := h.ln.Accept()
		if err != nil {
			return // closed; a listener on a unix socket has no errors that pass
		}
		h.serve(conn)
	}
}

// serve runs a session on a connection until one of both ends.
func (h *host) serve(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		_ = conn.Close()
		return
	}
	s := newSession(h, conn)
	h.sessions[s] = struct{}{}
	h.work.Add(1)
	go func() {
		defer h.work.Done()
		s.run()
	}()
}

// commit journals what the current command changed. Nothing is answered before it returns.
func (h *host) commit() error {
	h.ds.effects = nil
	if h.ds.broken != nil {
		h.log.Error("a command failed inside the embedded store; it is read again from its journal", "error", h.ds.broken, "stack", string(h.ds.stack))
		return h.ds.broken
	}
	if h.journal == nil || h.effects.empty() {
		return nil
	}
	return h.journal.append(h.effects)
}

// run executes what do does and journals its effects. The reply is valid until the next run. The caller holds
// the mutex and has looked at failed.
func (h *host) run(do func(out []byte) []byte) []byte {
	h.ds.begin(h.effects)
	h.reply = do(h.reply[:0])
	if err := h.commit(); err != nil {
		h.fail(err)
		return h.refusal()
	}
	return h.reply
}

// refusal is the reply to the command on which the host failed. Those behind it are repeated at the next host.
func (h *host) refusal() []byte {
	return appendError(nil, "MISCONF the embedded store changed nothing: "+h.failed.Error())
}

// serveWaiting gives those who wait what the last command brought them.
func (h *host) serveWaiting() {
	for len(h.waiting.ready) > 0 {
		k := h.waiting.ready[0]
		h.waiting.ready = h.waiting.ready[1:]
		for _, w := range slices.Clone(h.waiting.byKey[k]) {
			c := &w.session.client
			reply := h.run(func(out []byte) []byte { return append(out, w.try(h.ds, c)...) })
			if h.failed != nil {
				return // the waiter is refused, and what it took is back
			}
			if isNothing(reply) {
				continue
			}
			h.waiting.remove(w, c.db)
			w.session.send(reply)
			close(w.served)
		}
	}
	h.waiting.ready = nil
}

// fail ends the host because memory holds what the journal does not. Every command from now on is refused; the
// next process that connects, this one included, reads the journal again. The caller holds the mutex.
func (h *host) fail(err error) {
	if h.failed != nil {
		return
	}
	h.failed, h.draining = err, true
	h.log.Error("the embedded store stops serving", "dir", h.paths.dir, "error", err)
	go h.close(false)
}

// close hands the store over: commands that have arrived are answered, then connections, journal, socket and
// lock are let go, in this order. Another process, or this one, takes over on its next command.
func (h *host) close(compact bool) {
	h.stopOnce.Do(func() {
		defer close(h.ended)
		close(h.stop)
		if h.ln != nil {
			_ = h.ln.Close()
		}
		h.mu.Lock()
		h.draining = true
		for _, w := range h.waiting.all() {
			w.session.refuse(w)
		}
		for s := range h.sessions {
			s.drain()
		}
		h.mu.Unlock()
		h.work.Wait()
		h.release(compact)
	})
	<-h.ended
}

// release lets the files go. Nobody else uses the host any more.
func (h *host) release(compact bool) {
	if h.journal != nil {
		if compact && h.failed == nil {
			h.compactEarly()
		}
		if err := h.journal.close(); err != nil && h.failed == nil {
			h.log.Error("the journal could not be closed in order", "error", err)
		}
	}
	h.ds.close()
	if h.lock != nil {
		if err := h.lock.Unlock(); err != nil {
			h.log.Error("the store's lock could not be freed", "lock", h.paths.lock, "error", err)
		}
		h.log.Info("handed the embedded store over", "dir", h.paths.dir)
	}
}

// listen makes the socket. The lock is held, so a socket that is there belongs to a host that died.
func listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the socket of the last host: %w", err)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("serve the store at %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("make the store's socket private: %w", err)
	}
	return ln, nil
}
