package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// What is kept of one job's log: the end of it.
const (
	keptLines = 10_000
	keptLine  = 4096 // bytes of one line
)

// joblog is the end of a job's log, in lines. Text from outside is cleaned when it is drawn.
type joblog struct {
	lines   []string
	starts  []start // of attempts, by line
	partial string  // of a line that has not ended
	at      conveyor.LogPosition
	zone    *time.Location
	left    int  // lines that are not kept any more
	read    bool // something was answered
	err     error

	follow bool
	wrap   bool
	top    int // first line shown, when it does not follow
	right  int // cells that are scrolled out at the left, when lines are cut
}

// start is the line that an attempt begins with.
type start struct {
	line  int
	fence int64
}

func newLog(zone *time.Location, wrap bool) joblog {
	return joblog{zone: zone, follow: true, wrap: wrap}
}

// add takes what follows what was read so far.
func (l *joblog) add(entries []conveyor.LogEntry) {
	l.read, l.err = true, nil
	for _, e := range entries {
		if e.Fence != l.at.Fence {
			l.flush()
			l.starts = append(l.starts, start{len(l.lines), e.Fence})
			l.line(fmt.Sprintf("── start %d, %s ──", e.Fence, e.At.In(l.zone).Format("15:04:05")))
		}
		l.at = conveyor.LogPosition{Fence: e.Fence, N: e.N}
		if e.Dropped > 0 && len(e.Text) == 0 {
			l.flush()
			l.line(fmt.Sprintf("── the log is full: %d bytes left out ──", e.Dropped))
			continue
		}
		l.text(string(e.Text))
	}
	l.trim()
}

func (l *joblog) text(s string) {
	for {
		line, rest, ended := strings.Cut(s, "\n")
		l.partial += line
		if !ended {
			if len(l.partial) > keptLine {
				l.flush()
			}
			return
		}
		l.line(l.partial)
		l.partial, s = "", rest
	}
}

func (l *joblog) flush() {
	if l.partial != "" {
		l.line(l.partial)
		l.partial = ""
	}
}

func (l *joblog) line(s string) {
	l.lines = append(l.lines, strings.Clone(s[:min(len(s), keptLine)]))
}

// trim lets the beginning go. It waits until a quarter too much is there, so that it seldom moves anything.
func (l *joblog) trim() {
	if len(l.lines) < keptLines+keptLines/4 {
		return
	}
	over := len(l.lines) - keptLines
	l.lines = append(l.lines[:0:0], l.lines[over:]...)
	l.left, l.top = l.left+over, max(0, l.top-over)
	kept := l.starts[:0]
	for _, s := range l.starts {
		if s.line >= over {
			kept = append(kept, start{s.line - over, s.fence})
		}
	}
	l.starts = kept
}

// count is how many lines there are, the one that has not ended included.
func (l *joblog) count() int {
	if l.partial != "" {
		return len(l.lines) + 1
	}
	return len(l.lines)
}

func (l *joblog) lineAt(i int) string {
	s := l.partial
	if i < len(l.lines) {
		s = l.lines[i]
	}
	// A line that was overwritten in place, as progress bars do, shows as it was left.
	s = strings.TrimRight(s, "\r")
	if at := strings.LastIndexByte(s, '\r'); at >= 0 {
		s = s[at+1:]
	}
	return screen.Clean(strings.ReplaceAll(s, "\t", "    "))
}

// drawn is line i as it stands on a screen: one line, or several where it wraps.
func (l *joblog) drawn(i, width int) []string {
	s := l.lineAt(i)
	switch {
	case width <= 0:
		return nil
	case l.wrap && ansi.StringWidth(s) > width:
		return strings.Split(ansi.Hardwrap(s, width, true), "\n")
	case l.right > 0:
		s = ansi.TruncateLeft(s, l.right, "")
	}
	return []string{screen.Cut(s, width)}
}

// last is the first line from which the end of the log fills a height.
func (l *joblog) last(width, height int) int {
	i, room := l.count(), height
	for i > 0 {
		room -= len(l.drawn(i-1, width))
		if room < 0 {
			break
		}
		i--
	}
	return min(i, max(0, l.count()-1))
}

// view makes the lines that fill a height.
func (l *joblog) view(width, height int) []string {
	if height <= 0 || width <= 0 {
		return nil
	}
	var lines []string
	if l.follow {
		for i := l.count() - 1; i >= 0 && len(lines) < height; i-- {
			lines = append(l.drawn(i, width), lines...)
		}
		return lines[max(0, len(lines)-height):]
	}
	for i := l.top; i < l.count() && len(lines) < height; i++ {
		lines = append(lines, l.drawn(i, width)...)
	}
	return lines[:min(len(lines), height)]
}

// scroll moves by lines. Going back stops following; coming to the end goes on with it.
func (l *joblog) scroll(by, width, height int) {
	end := l.last(width, height)
	if l.follow {
		if by >= 0 {
			return
		}
		l.top = end
	}
	l.top = max(0, min(l.top+by, end))
	l.follow = by > 0 && l.top >= end
}

// isMark tells whether a line tells of an attempt, not of what it wrote.
func isMark(s string) bool { return strings.HasPrefix(s, "── ") && strings.HasSuffix(s, " ──") }
