package applier

import (
	"context"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
)

const (
	tailLines   = 10  // of a failed attempt's log
	tailEntries = 200 // in which they are looked for; an entry is some lines, or a part of one
)

// failuresOf counts what went wrong with a job so far, as far as there is a text for it.
func failuresOf(s conveyor.Status) int {
	n := s.Attempts
	if (s.State == conveyor.StateFailed || s.State == conveyor.StateOnHold) && !s.ChildFailed {
		n = max(n, 1)
	}
	return n
}

// failure reads the text of a job's last failure and the end of that attempt's log. Both are for people: where they
// cannot be read, the change is told without them. So is an older failure, of which only the log is left.
func (f *follower) failure(ctx context.Context, j *watchedJob, prior conveyor.Status) (text string, tail []string) {
	if j.failures <= failuresOf(j.status) {
		var err error
		if text, err = f.client.Failure(ctx, j.status.UUID); err != nil {
			return "", nil
		}
	}
	return namedHolder(text, f.addressOf), logEnd(ctx, f.client, j.status.UUID, failedFence(prior, j.status))
}

// failedFence is the attempt that has just failed: the same call may have started the next one.
func failedFence(prior, next conveyor.Status) int64 {
	if prior.State == conveyor.StateRunning && prior.Fence < next.Fence {
		return prior.Fence
	}
	return next.Fence
}

// addressOf is the address of a recorded job, "" for others.
func (f *follower) addressOf(uuid string) string {
	if j := f.jobs.byUUID[uuid]; j != nil && j.recorded() {
		return j.addr.String()
	}
	return ""
}

// logEnd is the last lines that an attempt has written so far; none where they cannot be read.
func logEnd(ctx context.Context, c *conveyor.Client, uuid string, fence int64) []string {
	entries, err := c.LogEnd(ctx, uuid, fence, tailEntries)
	if err != nil {
		return nil
	}
	var tail []byte
	for _, e := range entries {
		tail = append(tail, e.Text...)
	}
	text := strings.TrimRight(string(lastLines(tail, tailLines)), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// lastLines cuts text to its last n lines; a newline at its end belongs to the last one.
func lastLines(text []byte, n int) []byte {
	for i := len(text) - 2; i >= 0; i-- {
		if text[i] != '\n' {
			continue
		}
		if n--; n == 0 {
			return text[i+1:]
		}
	}
	return text
}
