package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// logBlock bounds one wait for more of a log that is followed.
const logBlock = time.Second

// logReader writes one job's log as it is.
type logReader struct {
	source     *logSource
	out, notes io.Writer
	nothing    string // noted when there is nothing to write
	clean      bool   // out is a terminal: what jobs write must not steer it

	fence   int64 // of the attempt last written
	dropped int64
	rest    []byte // of an unfinished line, when clean
}

func (l *logReader) run(ctx context.Context, follow bool) error {
	for {
		// The status is read before the log: what an ended job wrote is then complete.
		over := !follow
		if follow {
			statuses, err := l.source.client.Statuses(ctx, []string{l.source.uuid})
			if err != nil {
				return err
			}
			over = l.source.over(statuses[0])
		}
		block := logBlock
		if over {
			block = 0
		}
		entries, more, err := l.source.next(ctx, block)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := l.write(e); err != nil {
				return err
			}
		}
		if over && !more {
			if l.fence == 0 && !follow {
				fmt.Fprintln(l.notes, l.nothing)
			}
			return l.flush()
		}
	}
}

func (l *logReader) write(e conveyor.LogEntry) error {
	if e.Fence != l.fence && l.fence != 0 {
		if err := l.flush(); err != nil {
			return err
		}
		fmt.Fprintf(l.notes, "--- start %d of the job, %s ---\n", e.Fence, e.At.UTC().Format(time.RFC3339))
		l.dropped = 0
	}
	l.fence = e.Fence
	if e.Dropped > l.dropped {
		fmt.Fprintf(l.notes, "--- %d bytes were not kept ---\n", e.Dropped-l.dropped)
		l.dropped = e.Dropped
	}
	if !l.clean {
		_, err := l.out.Write(e.Text)
		return err
	}
	l.rest = append(l.rest, e.Text...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 {
		return nil
	}
	_, err := io.WriteString(l.out, screen.CleanText(string(l.rest[:end])))
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return err
}

// flush writes what is left of an unfinished line.
func (l *logReader) flush() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(l.out, screen.CleanText(string(l.rest)))
	l.rest = nil
	return err
}
