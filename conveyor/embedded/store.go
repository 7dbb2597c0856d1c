package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/redis/go-redis/v9"
)

// ErrClosed is every use of a store after its Close.
var ErrClosed = errors.New("the embedded store is closed")

// Store is a connection to the store in a directory, and its host while no other process is. All processes that
// have a directory's store open see the same data. A Store is safe for concurrent use.
type Store struct {
	options Options
	paths   paths
	rdb     *redis.Client
	copies  bool // ReadOnly: never hosts, reads a copy of the journal when nobody does

	turn   chan struct{} // holds a token; whoever has it may start or end a host
	closed chan struct{} // closed by Close
	once   sync.Once

	mu        sync.Mutex
	host      *host
	suspended chan struct{} // not nil between Suspend and Resume, which closes it
}

// Open connects to the store in dir (usually <workflow>/.waybill), starting or joining its host, and makes the
// directory when it is not there. ctx bounds only the opening, which for a host includes reading the journal: about
// 3 µs a job.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	s, err := newStore(dir, o)
	if err != nil {
		return nil, err
	}
	if err := s.paths.makeDirs(); err != nil {
		return nil, err
	}
	s.rdb = newClient(s.dial, false)
	conn, err := s.dial(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, conn.Close()
}

func newStore(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("options of the embedded store: %w", err)
	}
	p, err := locate(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, paths: p, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	s.turn <- struct{}{}
	return s, nil
}

// Client is a client of the store. It re-sends nothing that may have been executed: of what was sent when a host
// went away, reads are repeated and all else fails. It is closed with the store.
func (s *Store) Client() redis.UniversalClient { return s.rdb }

// Path is the store's directory.
func (s *Store) Path() string { return s.paths.dir }

// Hosting reports whether this process serves the store.
func (s *Store) Hosting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host != nil && s.host.lock != nil
}

// Close ends the use of the store. A host answers what has arrived, compacts the journal when that is worth it
// and lets others take over; they notice no more than a new connection.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closed)
		if s.rdb != nil {
			_ = s.rdb.Close()
		}
		<-s.turn // for good: no host starts any more
		s.endHost(true)
	})
	return nil
}

// Suspend hands the store over, as a process must before it lets itself be stopped (SIGTSTP): a stopped host
// freezes everybody. Until Resume the store joins other hosts but never becomes one; without one its commands wait.
func (s *Store) Suspend() {
	select {
	case <-s.turn:
	case <-s.closed:
		return
	}
	defer func() { s.turn <- struct{}{} }()
	s.mu.Lock()
	if s.suspended == nil {
		s.suspended = make(chan struct{})
	}
	s.mu.Unlock()
	s.endHost(false)
}

// Resume ends what Suspend began (SIGCONT). The store hosts again when nobody else does by then.
func (s *Store) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspended != nil {
		close(s.suspended)
		s.suspended = nil
	}
}

// endHost ends the host of this process, if there is one. The caller has the turn.
func (s *Store) endHost(compact bool) {
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	if h == nil {
		return
	}
	h.close(compact)
	s.mu.Lock()
	s.host = nil
	s.mu.Unlock()
}

// Pauses between tries to connect while another process starts, ends or recovers the host.
const (
	firstPause = time.Millisecond
	mostPause  = 50 * time.Millisecond
)

// dial connects to the host, whichever process it is, and becomes it when there is none.
func (s *Store) dial(ctx context.Context) (net.Conn, error) {
	var last error
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		conn, err := s.join(ctx)
		if err == nil {
			return conn, nil
		}
		if !absent(err) {
			last = err
		}
		started, resumed, err := s.takeOver(ctx)
		if err != nil {
			return nil, err
		}
		if started {
			continue
		}
		select {
		case <-s.closed:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, s.unreachable(ctx.Err(), last)
		case <-resumed:
		case <-time.After(pause):
		}
	}
}

// join connects to the host, if one answers.
func (s *Store) join(ctx context.Context) (net.Conn, error) {
	conn, err := connect(ctx, s.paths.socket)
	if err == nil || !absent(err) {
		return conn, err
	}
	// The host may have another directory for sockets, set by its environment.
	if note := readHostNote(s.paths); note.socket != "" && note.socket != s.paths.socket {
		return connect(ctx, note.socket)
	}
	return nil, err
}

// takeOver starts a host if this process may and none lives, and says whether it did. While the store is suspended
// it gives a channel to wait on.
func (s *Store) takeOver(ctx context.Context) (started bool, resumed <-chan struct{}, err error) {
	select {
	case <-s.turn:
	case <-s.closed:
		return false, nil, ErrClosed
	case <-ctx.Done():
		return false, nil, s.unreachable(ctx.Err(), nil)
	}
	defer func() { s.turn <- struct{}{} }()
	s.mu.Lock()
	h, suspended := s.host, s.suspended
	s.mu.Unlock()
	if h != nil {
		select {
		case <-h.stop: // it failed and ends by itself
			s.endHost(false)
		default:
			return false, nil, nil
		}
	}
	if suspended != nil {
		return false, suspended, nil
	}
	lock := flock.New(s.paths.lock, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return false, nil, fmt.Errorf("lock the embedded store: %w", err)
	}
	if !locked {
		return false, nil, nil
	}
	if h, err = openHost(s.paths, lock, s.options); err != nil {
		return false, nil, errors.Join(fmt.Errorf("open the embedded store in %s: %w", s.paths.dir, err), lock.Unlock())
	}
	s.mu.Lock()
	s.host = h
	s.mu.Unlock()
	h.start() // now, so that whoever is answered sees who hosts
	return true, nil, nil
}

// unreachable says who holds the lock without answering.
func (s *Store) unreachable(cause, last error) error {
	who := "another process"
	if note := readHostNote(s.paths); note.pid != 0 {
		who = fmt.Sprintf("process %d", note.pid)
		if note.pid == os.Getpid() {
			who += " (this one)"
		}
	}
	return fmt.Errorf("the embedded store in %s does not answer; %s holds it and may be stopped or starting: %w",
		s.paths.dir, who, errors.Join(cause, last))
}

// absent reports that there is nobody to connect to.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isRefused(err)
}
