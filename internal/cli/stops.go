package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// errInterrupted is why a command's context ends after the first wish to stop.
var errInterrupted = errors.New("interrupted")

// stops turns wishes to stop, by signal or by a key of the live view, into what happens: the first one ends the command's
// context, and the command ends in order; the second one ends the process.
type stops struct {
	cancel context.CancelCauseFunc
	p      Process

	mu      sync.Mutex
	count   int
	restore func() // gives the terminal back; nil when nobody has taken it
	said    string // told at the first wish, unless the view tells it
}

func newStops(cancel context.CancelCauseFunc, p Process) *stops { return &stops{cancel: cancel, p: p} }

// listen handles signals until the returned function is called.
func (s *stops) listen(signals <-chan os.Signal) (end func()) {
	if signals == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-signals:
				s.stop()
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// stop is one wish to stop.
func (s *stops) stop() {
	s.mu.Lock()
	s.count++
	n, restore, said := s.count, s.restore, s.said
	s.mu.Unlock()
	if n == 1 {
		s.cancel(errInterrupted)
		if restore == nil && said != "" {
			s.say(said)
		}
		return
	}
	if restore != nil {
		restore()
	}
	s.say("Interrupted twice: left at once. The state is as the store has it; nothing is lost.")
	s.p.Exit(exitInterrupted)
}

// sayAtMost is how long a wish to stop waits for being told.
const sayAtMost = time.Second

// say writes to stderr, and does not wait for a reader that has stalled: whoever wants to leave can.
func (s *stops) say(text string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintln(s.p.Stderr, text)
	}()
	select {
	case <-said:
	case <-time.After(sayAtMost):
	}
}

// leave ends the command in order for a reason other than a wish to stop. A second call does nothing.
func (s *stops) leave(why error) { s.cancel(why) }

func (s *stops) interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count > 0
}

// announce sets what is said at the first wish to stop.
func (s *stops) announce(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = text
}

// screen tells how to give the terminal back while a view has it; nil when it has not.
func (s *stops) screen(restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restore = restore
}
