package applier

import (
	"context"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
)

const (
	tailLines = 10  // of a failed attempt's log
	logPage   = 500 // entries of one read
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
// cannot be read, the change is told without them.
func (f *follower) failure(ctx context.Context, s conveyor.Status) (text string, tail []string) {
	text, err := f.client.Failure(ctx, s.UUID)
	if err != nil {
		return "", nil
	}
	return namedHolder(text, f.addressOf), f.logTail(ctx, s)
}

// addressOf is the address of a recorded job, "" for others.
func (f *follower) addressOf(uuid string) string {
	if j := f.jobs.byUUID[uuid]; j != nil && j.recorded() {
		return j.addr.String()
	}
	return ""
}

// logTail is the last lines that the job's latest attempt wrote.
func (f *follower) logTail(ctx context.Context, s conveyor.Status) []string {
	var tail []byte
	for at := (conveyor.LogPosition{Fence: s.Fence}); ; {
		entries, err := f.client.Logs(ctx, s.UUID, at, logPage, 0)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			at = conveyor.LogPosition{Fence: e.Fence, N: e.N}
			if e.Fence == s.Fence {
				tail = lastLines(append(tail, e.Text...), tailLines)
			}
		}
		if len(entries) < logPage {
			break
		}
	}
	text := strings.TrimRight(string(tail), "\n")
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
