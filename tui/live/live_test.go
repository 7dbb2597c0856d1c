package live

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// screenBuffer stands for a terminal that several goroutines write to.
type screenBuffer struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	grew chan struct{} // closed at the next writing
}

func (b *screenBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.grew != nil {
		close(b.grew)
		b.grew = nil
	}
	return b.buf.Write(p)
}

// until waits until a text was written, and returns all.
func (b *screenBuffer) until(t *testing.T, text string) string {
	t.Helper()
	late := time.After(30 * time.Second)
	for {
		b.mu.Lock()
		got := b.buf.String()
		if b.grew == nil {
			b.grew = make(chan struct{})
		}
		grew := b.grew
		b.mu.Unlock()
		if strings.Contains(got, text) {
			return got
		}
		select {
		case <-grew:
		case <-late:
			t.Fatalf("%q did not come: %q", text, got)
		}
	}
}

func (b *screenBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Sequences of a terminal: the other screen, and back; the cursor.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	showCursor  = "\x1b[?25h"
)

func TestLiveEndsBelowTheView(t *testing.T) {
	t.Parallel()
	var screen screenBuffer
	keys, _ := io.Pipe()
	l := New(Options{In: keys, Out: &screen, NoColor: true, Now: func() time.Time { return script.Noon }})
	l.Start()
	for _, e := range script.EndedBadly(t) {
		l.Observe(e)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("closed again: %v", err)
	}
	_, below, found := strings.Cut(screen.String(), leaveScreen)
	if !found || !strings.Contains(screen.String(), enterScreen) {
		t.Fatalf("the view did not enter and leave its screen: %q", screen.String())
	}
	if i := strings.Index(below, "job.extract"); i >= 0 {
		script.CheckGolden(t, "live/recap", below[i:])
	} else {
		t.Errorf("below the view stands %q", below)
	}
}

// TestLiveSurvivesItsPanic lets the view panic: the terminal is given back, and the run is told in lines from there.
func TestLiveSurvivesItsPanic(t *testing.T) {
	t.Parallel()
	var screen screenBuffer
	keys, _ := io.Pipe()
	var calls atomic.Int64
	l := New(Options{In: keys, Out: &screen, NoColor: true, Now: func() time.Time {
		if calls.Add(1) == 1 {
			panic("planted")
		}
		return script.Noon
	}})
	l.Start()
	if err := l.Wait(); err == nil {
		t.Error("the view's panic is no error")
	}
	for _, e := range script.FinishedWell(t) {
		l.Observe(e)
	}
	if err := l.Close(); err == nil {
		t.Error("the view's panic is forgotten")
	}
	_, below, _ := strings.Cut(screen.String(), leaveScreen)
	for _, want := range []string{showCursor, "going on with plain lines", "job.report: Completed after 0.2s", "Apply complete! Jobs: 5 added"} {
		if !strings.Contains(below, want) {
			t.Errorf("%q does not stand below the view: %q", want, below)
		}
	}
}

func TestLiveKill(t *testing.T) {
	t.Parallel()
	var screen screenBuffer
	keys, _ := io.Pipe()
	l := New(Options{In: keys, Out: &screen, NoColor: true})
	l.Start()
	l.Observe(applier.Opened{Workflow: "sales"})
	l.Kill()
	if err := l.Close(); err != nil {
		t.Errorf("closed after a kill: %v", err)
	}
}
