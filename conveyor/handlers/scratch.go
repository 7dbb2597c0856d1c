package handlers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// The directory of a worker is TMPDIR/waybill-worker-<random>, of mode 0700, with a file in it that the worker holds locked as
// long as it lives. The kernel lets go of the lock however the worker ends, so that others can tell what is nobody's any more.
const (
	scratchPrefix = "waybill-worker-"
	scratchLock   = "lock"
)

// scratch makes the directories of attempts. All of one worker are in one directory, which is made with the first.
type scratch struct {
	parent string // where it makes that directory

	mu   sync.Mutex
	dir  string // "" before the first attempt
	lock *flock.Flock
}

// attempt makes a directory for one attempt, whose name no other has. A directory of the worker that somebody cleared away
// is made anew.
func (s *scratch) attempt() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		dir, err := os.MkdirTemp(s.dir, filepath.Base(s.dir)+"-")
		if !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
		_ = s.lock.Close()
	}
	for range 3 {
		if err := s.open(); err == nil {
			return os.MkdirTemp(s.dir, filepath.Base(s.dir)+"-")
		} else if !errors.Is(err, errSwept) {
			return "", err
		}
	}
	return "", errSwept
}

// errSwept says that another worker took the new directory for a stale one, between its making and its locking.
var errSwept = errors.New("the scratch directory was swept away")

func (s *scratch) open() error {
	dir, err := os.MkdirTemp(s.parent, scratchPrefix)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, scratchLock)
	lock := flock.New(name)
	held, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", name, err)
	}
	if _, err := os.Stat(name); !held || err != nil {
		_ = lock.Close()
		return errSwept
	}
	s.dir, s.lock = dir, lock
	return nil
}

// close removes the worker's directory with all that is left in it.
func (s *scratch) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return
	}
	_ = s.lock.Close()
	_ = os.RemoveAll(s.dir)
	s.dir = ""
}

// sweep removes the directories of workers that were killed, and returns how many. It leaves alone what is locked, what has
// no lock, and what is not this user's.
func (s *scratch) sweep() int {
	dirs, _ := filepath.Glob(filepath.Join(s.parent, scratchPrefix+"*"))
	removed := 0
	for _, dir := range dirs {
		info, err := os.Lstat(dir) // a link to anywhere is no directory of ours
		if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			continue
		}
		lock := flock.New(filepath.Join(dir, scratchLock), flock.SetFlag(os.O_RDWR)) // never made here
		if held, err := lock.TryLock(); err == nil && held {
			if os.RemoveAll(dir) == nil {
				removed++
			}
		}
		_ = lock.Close()
	}
	return removed
}
