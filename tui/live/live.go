package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// Options configures a Live.
type Options struct {
	In  io.Reader // the terminal's keys
	Out io.Writer // the terminal
	// NoColor draws without colours. The NO_COLOR variable does the same.
	NoColor bool
	// Now is the store's clock; default time.Now.
	Now     func() time.Time
	Destroy bool // chooses words
	// OwnWorker says that the process runs the jobs itself, so that stopping stops them.
	OwnWorker bool
	// Stop is called, outside of the view, for the n-th time that the user asks to stop; the second time he wants to leave
	// at once.
	Stop func(n int)
	// Suspend is called when the user presses ctrl+z; it is to stop the process, with Pause before. Without it the key does
	// nothing.
	Suspend func()
}

// Live draws a full-screen view of a run on a terminal and answers to keys. Start it, hand it events, and Close it: the
// terminal is then as it was before, also after a panic of the view, and the summary stands below.
type Live struct {
	o       Options
	inbox   *screen.Inbox
	program *tea.Program
	ended   chan struct{} // closed when the program has given the terminal back

	once sync.Once    // Close
	err  error        // set before ended is closed
	last *board.Board // set before ended is closed; nil when the view failed

	mu       sync.Mutex
	fallback *tui.Plain // goes on with lines when the view has failed
}

// New returns a Live that has not taken the terminal yet.
func New(o Options) *Live {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Live{o: o, inbox: screen.NewInbox(), ended: make(chan struct{})}
	m := newModel(o, screen.Renderer(o.Out, o.NoColor), prepared(l.inbox.Frames()))
	l.program = tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithAltScreen(), tea.WithMouseCellMotion(),
		tea.WithoutSignalHandler())
	return l
}

// prepared makes long lists of jobs ready before the view gets them.
func prepared(take tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		msg := take()
		if events, ok := msg.(screen.Events); ok {
			for i, e := range events.Events {
				if f, ok := e.(applier.Following); ok {
					events.Events[i] = board.NewRoster(f)
				}
			}
		}
		return msg
	}
}

// Start takes the terminal.
func (l *Live) Start() {
	go func() {
		defer close(l.ended)
		final, err := l.program.Run()
		if err != nil {
			l.fail(err)
			return
		}
		l.last = final.(model).board
	}()
}

// fail goes on with lines after the view could not, from the first event that it has not taken. A view that was killed
// on purpose goes on with nothing.
func (l *Live) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.o.Out
	if errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		out = io.Discard
	} else {
		l.err = fmt.Errorf("terminal view: %w", err)
	}
	l.fallback = tui.NewPlain(tui.PlainOptions{Out: out, Err: out, Now: l.o.Now, Destroy: l.o.Destroy})
	fmt.Fprintf(out, "The view failed (%v); going on with plain lines.\n", err)
	for _, e := range l.inbox.Drain() {
		l.fallback.Observe(e)
	}
}

// Observe hands one event to the view and never waits for it.
func (l *Live) Observe(e applier.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fallback != nil {
		l.fallback.Observe(e)
		return
	}
	l.inbox.Put(e)
}

// Wait returns when the user has quit or the view has failed.
func (l *Live) Wait() error {
	<-l.ended
	return l.err
}

// Close draws what is left, gives the terminal back and writes below what should stay: failures, the last sentence and
// the outputs. It may be called again.
func (l *Live) Close() error {
	l.once.Do(func() {
		l.inbox.Close()
		<-l.ended
		if l.last != nil {
			var b bytes.Buffer
			tui.WriteRecap(&b, l.last, board.Operation{Destroy: l.o.Destroy}, tui.Ink{On: !screen.NoColor(l.o.NoColor)}, l.o.Now())
			l.o.Out.Write(b.Bytes()) //nolint:errcheck // nobody to tell
		}
	})
	return l.err
}

// Pause gives the terminal back, while the process is stopped say, until the returned function is called.
func (l *Live) Pause() (resume func()) { return screen.Pause(l.program, l.ended) }

// Kill gives the terminal back at once, without drawing or writing anything more.
func (l *Live) Kill() {
	l.program.Kill()
	<-l.ended
}
