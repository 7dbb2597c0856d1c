package watch

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// sink stands for a terminal that several goroutines write to.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *sink) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *sink) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Sequences of a terminal: the other screen, and back; the cursor; the mouse.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	showCursor  = "\x1b[?25h"
	mouseOff    = "\x1b[?1002l"
)

// startView starts a view on a terminal that nobody reads.
func startView(t *testing.T, d Actions) (*View, *sink, *io.PipeWriter) {
	t.Helper()
	keys, hand := io.Pipe()
	out := &sink{}
	v, err := New(Options{In: keys, Out: out, NoColor: true, Now: func() time.Time { return script.Noon }, Actions: d})
	if err != nil {
		t.Fatal(err)
	}
	v.Start()
	return v, out, hand
}

func checkRestored(t *testing.T, out string) {
	t.Helper()
	_, after, left := strings.Cut(out, leaveScreen)
	if !strings.Contains(out, enterScreen) || !left || !strings.Contains(out, mouseOff) || !strings.Contains(out, showCursor) {
		t.Errorf("the terminal is not as it was: %q", out)
	}
	if strings.Contains(after, "Jobs") {
		t.Errorf("below the view stands %q", after)
	}
}

func TestViewIsClosed(t *testing.T) {
	t.Parallel()
	v, out, _ := startView(t, &desk{})
	for _, e := range shop(t) {
		v.Observe(e)
	}
	for range 2 {
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	v.Observe(seen()) // too late, and harmless
	checkRestored(t, out.String())
}

func TestViewIsQuit(t *testing.T) {
	t.Parallel()
	v, out, hand := startView(t, &desk{})
	for _, e := range shop(t) {
		v.Observe(e)
	}
	hand.Write([]byte("q")) //nolint:errcheck // a pipe to the view
	if err := v.Wait(); err != nil {
		t.Fatal(err)
	}
	checkRestored(t, out.String())
}

func TestViewIsKilled(t *testing.T) {
	t.Parallel()
	v, out, _ := startView(t, &desk{})
	v.Kill()
	if err := v.Wait(); err != nil {
		t.Errorf("killed: %v", err)
	}
	if strings.Contains(out.String(), enterScreen) {
		checkRestored(t, out.String())
	}
}

// planted panics when a job is inspected.
type planted struct{ *desk }

func (planted) Inspect(context.Context, string) (*conveyor.Inspection, error) { panic("planted") }

func TestViewPanics(t *testing.T) {
	t.Parallel()
	v, out, _ := startView(t, planted{&desk{}})
	for _, e := range huge(10) { // the first line is a job, which is read
		v.Observe(e)
	}
	if err := v.Wait(); err == nil || !strings.Contains(err.Error(), "terminal view") {
		t.Errorf("the view's panic is the error %v", err)
	}
	if got := out.String(); !strings.Contains(got, leaveScreen) || !strings.Contains(got, showCursor) {
		t.Errorf("the terminal is not as it was: %q", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("a view without a terminal and actions is made")
	}
}
