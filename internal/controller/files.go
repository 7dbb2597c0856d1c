package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Editors, checkouts and copies change several files in a row: a change is told when none has followed for settleFor, or when it is
// settleMost old.
const (
	settleFor  = 200 * time.Millisecond
	settleMost = 2 * time.Second
)

// maxWatched is how many directories are watched. The kernel's limit is one for all processes of a user.
const maxWatched = 1000

// Files is the source that reads a directory as it is. It names no revisions.
type Files struct {
	dir     string
	changed chan struct{}
	watcher *fsnotify.Watcher // nil when the system gives none
	failed  error             // why
	stopped chan struct{}

	mu      sync.Mutex
	files   map[string]bool        // that count, by absolute path
	whole   map[string]bool        // directories in which everything counts
	folders map[string]os.FileInfo // watched, as they were found
}

var _ Watcher = (*Files)(nil)

// NewFiles makes the source of a directory. Close it.
func NewFiles(dir string) *Files {
	f := &Files{dir: dir, changed: make(chan struct{}, 1), stopped: make(chan struct{}), folders: map[string]os.FileInfo{}}
	if f.watcher, f.failed = fsnotify.NewWatcher(); f.failed != nil {
		close(f.stopped)
		return f
	}
	go func() {
		defer close(f.stopped)
		f.listen()
	}()
	return f
}

// Revision is part of Source. What is in the directory is found out by reading it.
func (f *Files) Revision(context.Context) (Revision, string, error) { return Revision{}, f.dir, nil }

// Changed is part of Source.
func (f *Files) Changed() <-chan struct{} { return f.changed }

// Close is part of Source.
func (f *Files) Close() error {
	if f.watcher == nil {
		return nil
	}
	err := f.watcher.Close()
	<-f.stopped
	return err
}

// Watch is part of Watcher. The directories are watched, not the files: whoever saves a file may put a new one in its place.
func (f *Files) Watch(files []string) error {
	if f.watcher == nil {
		return fmt.Errorf("changes of files are not noticed at once: %w", f.failed)
	}
	dir := absolute(f.dir)
	counts, whole := map[string]bool{dir: true}, map[string]bool{}
	folders := map[string]bool{dir: true, filepath.Dir(dir): true} // another may be put in place of the directory itself
	for _, name := range files {
		name = absolute(name)
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			whole[name], folders[name] = true, true
			continue
		}
		counts[name], folders[filepath.Dir(name)] = true, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files, f.whole = counts, whole
	for name := range f.folders {
		if !folders[name] {
			f.watcher.Remove(name) //nolint:errcheck // it may be gone
			delete(f.folders, name)
		}
	}
	var problems []error
	for name := range folders {
		if err := f.follow(name); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return fmt.Errorf("changes in %d of %d directories are not noticed at once: %w", len(problems), len(folders), problems[0])
}

// follow watches a directory, anew if another has taken its place: a watch stays with what it was made for.
func (f *Files) follow(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			delete(f.folders, name)
			return nil // the directory above tells when it comes, and else the interval
		}
		return err
	}
	if known := f.folders[name]; known != nil && os.SameFile(known, info) && slices.Contains(f.watcher.WatchList(), name) {
		return nil
	}
	if len(f.folders) >= maxWatched {
		return fmt.Errorf("%s: %d directories are watched already", name, maxWatched)
	}
	f.watcher.Remove(name) //nolint:errcheck // of what was there before, if anything was
	delete(f.folders, name)
	if err := f.watcher.Add(name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.folders[name] = info
	return nil
}

// listen turns events into changes until the watcher is closed.
func (f *Files) listen() {
	var first time.Time // of the change that is not told yet; zero for none
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	for {
		select {
		case e, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			if !f.matters(e) {
				continue
			}
		case _, ok := <-f.watcher.Errors: // too many events at once: something has changed
			if !ok {
				return
			}
		case <-settled.C:
			first = time.Time{}
			select {
			case f.changed <- struct{}{}:
			default:
			}
			continue
		}
		if first.IsZero() {
			first = time.Now()
		}
		settled.Reset(max(0, min(settleFor, settleMost-time.Since(first))))
	}
}

// matters tells whether an event may be of the configuration: what it was made of, what may be added to it, and the link that a
// mounted configuration is switched by.
func (f *Files) matters(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	folder, base := filepath.Split(e.Name)
	folder = filepath.Clean(folder)
	switch {
	case f.files[e.Name], f.whole[folder]:
		return true
	case folder == filepath.Dir(absolute(f.dir)):
		return false // a neighbour of the directory
	}
	return base == "..data" || strings.HasSuffix(strings.TrimSuffix(base, ".json"), ".hcl") || strings.HasSuffix(strings.TrimSuffix(base, ".json"), ".wbvars")
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return filepath.Clean(name)
}
