package gitsource

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
)

// desk is a directory of one Source alone. It is locked while the source is open; a desk that nobody holds is left by a process that was
// killed, and is cleared away by the next one.
type desk struct {
	dir    string
	lock   *flock.Flock
	copies int
}

const deskLock = "lock"

func newDesk(cache string) (*desk, error) {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory for copies of repositories: %w", err)
	}
	// One at a time, so that none is cleared away between being made and being locked.
	door := flock.New(filepath.Join(cache, deskLock))
	if err := door.Lock(); err != nil {
		return nil, fmt.Errorf("lock the copies of repositories: %w", err)
	}
	defer door.Unlock() //nolint:errcheck // the file is closed with the process
	clearDesks(cache)
	dir, err := os.MkdirTemp(cache, "source-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for a copy of the repository: %w", err)
	}
	d := &desk{dir: dir, lock: flock.New(filepath.Join(dir, deskLock))}
	if ok, err := d.lock.TryLock(); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("lock the copy of the repository in %s: %w", dir, err), os.RemoveAll(dir))
	}
	return d, nil
}

// clearDesks removes what nobody holds. What cannot be removed is left to the next.
func clearDesks(cache string) {
	left, err := filepath.Glob(filepath.Join(cache, "source-*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		l := flock.New(filepath.Join(dir, deskLock))
		if ok, err := l.TryLock(); err == nil && ok {
			_ = os.RemoveAll(dir)
			_ = l.Unlock()
		}
	}
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

// fresh is a path for a new copy of the repository.
func (d *desk) fresh() string {
	d.copies++
	return d.path("copy-" + strconv.Itoa(d.copies))
}

// keep removes all copies but one.
func (d *desk) keep(copy string) {
	copies, err := filepath.Glob(d.path("copy-*"))
	if err != nil {
		return
	}
	for _, c := range copies {
		if c != copy {
			_ = os.RemoveAll(c)
		}
	}
}

func (d *desk) close() error {
	return errors.Join(os.RemoveAll(d.dir), d.lock.Unlock())
}
