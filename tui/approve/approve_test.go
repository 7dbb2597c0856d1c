package approve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

// terminalBuffer stands for a terminal that several goroutines write to.
type terminalBuffer struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	drawn chan struct{} // closed when the plan is on the screen
	once  sync.Once
}

func newTerminalBuffer() *terminalBuffer { return &terminalBuffer{drawn: make(chan struct{})} }

func (b *terminalBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Write(p)
	if strings.Contains(b.buf.String(), "Plan: ") {
		b.once.Do(func() { close(b.drawn) })
	}
	return len(p), nil
}

func (b *terminalBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestAsk runs whole views: whatever ends one, the terminal is as it was before.
func TestAsk(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		keys   string
		act    func(v *View, cancel context.CancelFunc) // when the plan is on the screen
		want   Answer
		failed bool
		err    error
	}{
		{name: "yes", keys: "yes\r", want: Approved},
		{name: "a sent line", keys: "yes\n", want: Approved},
		{name: "no", keys: "q", want: Declined},
		{name: "ctrl+c", keys: "\x03", want: Interrupted},
		{name: "killed", act: func(v *View, _ context.CancelFunc) { v.Kill() }, want: Interrupted},
		{name: "cancelled", act: func(_ *View, cancel context.CancelFunc) { cancel() }, want: Declined, failed: true, err: context.Canceled},
		{name: "panic", keys: "\x1a", want: Declined, failed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			keys, typed := io.Pipe()
			defer typed.Close()
			screen := newTerminalBuffer()
			o := testOptions(sales(t))
			o.In, o.Out, o.NoColor, o.Suspend = keys, screen, true, func() { panic("planted") }
			v := New(o)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			acted := make(chan struct{})
			go func() {
				defer close(acted)
				<-screen.drawn
				io.WriteString(typed, tt.keys) //nolint:errcheck // then the view does not end
				if tt.act != nil {
					tt.act(v, cancel)
				}
			}()
			got, err := v.Ask(ctx)
			<-acted
			if got != tt.want || (err != nil) != tt.failed || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("got %d and %v, want %d", got, err, tt.want)
			}
			_, below, left := strings.Cut(screen.String(), "\x1b[?1049l")
			if !left || !strings.Contains(screen.String(), "\x1b[?25h") || strings.Contains(below, "Plan: ") {
				t.Errorf("the terminal is left with %q", below)
			}
		})
	}
}
