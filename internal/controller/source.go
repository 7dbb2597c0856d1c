package controller

import (
	"context"
	"time"
)

// Revision is one state of a configuration, as its source names it.
type Revision struct {
	// ID is what tells revisions apart: a commit. "" of a source that has no names for them: then the Loop names a revision by its
	// content.
	ID string
	// Author, Message and Time are shown, and recorded with what is applied. They are empty where the source does not know.
	Author, Message string
	Time            time.Time
}

// Source is where a configuration comes from. It belongs to one Loop, which calls one method at a time, but may wait for Changed
// meanwhile.
type Source interface {
	// Revision is the configuration's newest revision, and the directory that it is in. What is in the directory of a source that
	// gives IDs stays as it is, at least until the next call that returns another ID. An error means that the source could not be
	// asked, or has nothing that can be read: the Loop goes on with what it had, and asks again.
	Revision(ctx context.Context) (rev Revision, dir string, err error)
	// Changed receives, soon after something may have changed, what makes the Loop ask at once and not only by its interval. Nil
	// is a source that cannot tell. It holds at most one value.
	Changed() <-chan struct{}
	// Close ends what the source has started.
	Close() error
}

// Watcher is a Source that can tell at once of changes of files which the configuration turned out to be made of.
type Watcher interface {
	Source
	// Watch is called after each reading of the configuration with all files and directories that it looked at. An error says
	// that changes are not told of, or not all; it is told once, and the interval finds them.
	Watch(files []string) error
}
