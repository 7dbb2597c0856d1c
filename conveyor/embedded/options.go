package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// Options of a Store. The zero value is good.
type Options struct {
	// Logger is told what happens to the store besides commands: hosting begun and handed over, a torn tail
	// cut, compaction. Default: nothing is logged.
	Logger *slog.Logger

	// CompactAt is how many bytes of changes a running host appends before it compacts the journal, if by
	// then they are also twice the size of the data. Compaction stops the store for about 3 µs a job.
	// Default 32 MiB, at least 1 KiB.
	CompactAt int64

	// now is the clock, for tests.
	now func() time.Time
	// openFile wraps the journal's files, for tests of failing disks.
	openFile func(*os.File) journalFile
}

const (
	defaultCompactAt = 32 << 20
	leastCompactAt   = 1 << 10

	// compactEarly is how many bytes of changes make a compaction worth its while when the store is opened or
	// closed; replaying less takes no time that anybody notices.
	compactEarly = 256 << 10
)

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CompactAt == 0 {
		o.CompactAt = defaultCompactAt
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.openFile == nil {
		o.openFile = func(f *os.File) journalFile { return f }
	}
	return o
}

func (o Options) validate() error {
	var problems []error
	if o.CompactAt < leastCompactAt {
		problems = append(problems, fmt.Errorf("CompactAt is %d, must be at least %d bytes", o.CompactAt, leastCompactAt))
	}
	return errors.Join(problems...)
}
