package cli

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui"
	"github.com/waybill-dev/waybill/tui/screen"
)

// logLine is one line of a job's log, or the fact that something of it was not kept.
type logLine struct {
	Job     string    `json:"job"`
	At      time.Time `json:"at"` // when its beginning was written, by the store's clock
	Attempt int64     `json:"attempt"`
	Text    string    `json:"text"`
	Dropped int64     `json:"dropped,omitempty"` // bytes that were not kept at this place; Text is empty then
}

// lineMaker cuts what a job writes into lines.
type lineMaker struct {
	job     string
	attempt int64
	dropped int64
	rest    []byte
	begun   time.Time // of rest
}

// longestLine is where a line without an end is cut, in bytes.
const longestLine = 64 << 10

// take adds an entry and returns the lines that are complete with it.
func (m *lineMaker) take(e conveyor.LogEntry) []logLine {
	var lines []logLine
	if e.Fence != m.attempt {
		lines = m.flush()
		m.attempt, m.dropped = e.Fence, 0
	}
	if e.Dropped > m.dropped {
		lines = append(append(lines, m.flush()...), logLine{Job: m.job, At: e.At, Attempt: m.attempt, Dropped: e.Dropped - m.dropped})
		m.dropped = e.Dropped
	}
	for text := e.Text; len(text) > 0; {
		if len(m.rest) == 0 {
			m.begun = e.At
		}
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			m.rest = append(m.rest, text...)
			if len(m.rest) > longestLine {
				lines = append(lines, m.flush()...)
			}
			break
		}
		m.rest = append(m.rest, text[:end]...)
		lines = append(lines, m.line())
		text = text[end+1:]
	}
	return lines
}

// flush returns what is left of an unfinished line.
func (m *lineMaker) flush() []logLine {
	if len(m.rest) == 0 {
		return nil
	}
	return []logLine{m.line()}
}

func (m *lineMaker) line() logLine {
	l := logLine{Job: m.job, At: m.begun, Attempt: m.attempt, Text: strings.ToValidUTF8(strings.TrimSuffix(string(m.rest), "\r"), "\uFFFD")}
	m.rest = m.rest[:0]
	return l
}

// logLines writes the lines of several jobs: each behind the name of its job, or as JSON.
type logLines struct {
	out    io.Writer
	json   bool
	ink    tui.Ink
	clean  bool // out is a terminal
	width  int  // of the names
	starts map[string]int64
}

// widestName is the longest name that the others are aligned with.
const widestName = 40

func newLogLines(a *app, targets []logTarget, json bool) *logLines {
	w := &logLines{out: a.p.Stdout, json: json, ink: a.ink(a.p.Stdout), clean: terminal(a.p.Stdout), starts: map[string]int64{}}
	for _, t := range targets {
		w.widen(t.name)
	}
	return w
}

// widen aligns names with this one, unless it is too long.
func (w *logLines) widen(name string) {
	if n := utf8.RuneCountInString(name); n <= widestName {
		w.width = max(w.width, n)
	}
}

func (w *logLines) write(lines []logLine) error {
	if len(lines) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, l := range lines {
		if w.json {
			l.At = l.At.UTC()
			text, err := json.Marshal(l)
			if err != nil {
				return fmt.Errorf("write a line of a log: %w", err)
			}
			b.Write(append(text, '\n'))
			continue
		}
		prior := w.starts[l.Job]
		w.starts[l.Job] = l.Attempt
		if prior != 0 && prior != l.Attempt {
			w.put(&b, l.Job, w.ink.Faint(fmt.Sprintf("--- start %d of the job, %s ---", l.Attempt, l.At.UTC().Format(time.RFC3339))))
		}
		switch {
		case l.Dropped > 0:
			w.put(&b, l.Job, w.ink.Faint(fmt.Sprintf("--- %d bytes were not kept ---", l.Dropped)))
		case w.clean:
			w.put(&b, l.Job, screen.CleanText(l.Text))
		default:
			w.put(&b, l.Job, l.Text)
		}
	}
	_, err := w.out.Write(b.Bytes())
	return err
}

func (w *logLines) put(b *bytes.Buffer, job, text string) {
	w.widen(job) // one that joined in later
	name := fmt.Sprintf("%-*s |", w.width, screen.CleanText(job))
	fmt.Fprintf(b, "%s %s\n", w.ink.Tell(job, name), text)
}

// mergeLogs writes the lines of several logs in order of time.
func mergeLogs(ctx context.Context, sources []*logSource, w *logLines) error {
	var q logQueue
	for _, s := range sources {
		r := &logRun{source: s, maker: lineMaker{job: s.name}, more: true}
		if err := r.fill(ctx); err != nil {
			return err
		}
		if len(r.lines) > 0 {
			q = append(q, r)
		}
	}
	heap.Init(&q)
	for len(q) > 0 {
		r := q[0]
		// All that this log has before the next one's first line goes out at once.
		n := 1
		if len(q) > 1 {
			next := q[1]
			if len(q) > 2 && q.Less(2, 1) {
				next = q[2]
			}
			for n < len(r.lines) && r.lines[n].At.Before(next.lines[0].At) {
				n++
			}
		} else {
			n = len(r.lines)
		}
		if err := w.write(r.lines[:n]); err != nil {
			return err
		}
		if r.lines = r.lines[n:]; len(r.lines) == 0 {
			if err := r.fill(ctx); err != nil {
				return err
			}
		}
		if len(r.lines) == 0 {
			heap.Pop(&q)
		} else {
			heap.Fix(&q, 0)
		}
	}
	return nil
}

// logRun is one log that is merged with others.
type logRun struct {
	source *logSource
	maker  lineMaker
	lines  []logLine // read and not written
	more   bool
}

func (r *logRun) fill(ctx context.Context) error {
	for len(r.lines) == 0 && r.more {
		entries, more, err := r.source.next(ctx, 0)
		if err != nil {
			return err
		}
		for _, e := range entries {
			r.lines = append(r.lines, r.maker.take(e)...)
		}
		if r.more = more; !more {
			r.lines = append(r.lines, r.maker.flush()...)
		}
	}
	return nil
}

// logQueue is a heap of logs by the time of their next line.
type logQueue []*logRun

func (q logQueue) Len() int { return len(q) }
func (q logQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	if d := a.lines[0].At.Compare(b.lines[0].At); d != 0 {
		return d < 0
	}
	return a.source.name < b.source.name
}
func (q logQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *logQueue) Push(x any)   { *q = append(*q, x.(*logRun)) }
func (q *logQueue) Pop() any {
	last := len(*q) - 1
	r := (*q)[last]
	*q = (*q)[:last]
	return r
}
