//go:build !race

// Bubble Tea abandons its reader of the terminal where a program is killed or panics, and closes the file under it: the race
// detector would find that in whatever test runs beside. So these run without it (the step terminal of the checks).

package live

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// terminal opens a terminal of 80 by 24 cells: what is written to it arrives at the returned buffer.
func terminal(t *testing.T) (tty *os.File, got *screenBuffer) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	got = &screenBuffer{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(got, master) //nolint:errcheck // it ends when the other end closes
	}()
	t.Cleanup(func() {
		tty.Close()
		master.Close()
		<-read
	})
	return tty, got
}

// modes are how a terminal treats keys.
func modes(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// TestTerminalIsGivenBack ends views on a terminal in every way there is, and finds it as it was.
func TestTerminalIsGivenBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		panic int64 // at which reading of the clock the view panics
		end   func(t *testing.T, l *Live)
	}{
		{name: "closed", end: func(t *testing.T, l *Live) {
			for _, e := range script.FinishedWell(t) {
				l.Observe(e)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}},
		{name: "killed", end: func(t *testing.T, l *Live) {
			l.Observe(applier.Opened{Workflow: "sales"})
			l.Kill()
		}},
		{name: "panic at the start", panic: 1, end: func(t *testing.T, l *Live) {
			if err := l.Wait(); err == nil {
				t.Error("the view's panic is no error")
			}
		}},
		{name: "panic later", panic: 2, end: func(t *testing.T, l *Live) {
			for _, e := range script.Sales(t) {
				l.Observe(e)
			}
			if err := l.Wait(); err == nil {
				t.Error("the view's panic is no error")
			}
		}},
		{name: "panic while taking in events", end: func(t *testing.T, l *Live) {
			l.Observe(applier.RowApplied{}) // no applier tells of no row
			if err := l.Wait(); err == nil {
				t.Error("the view's panic is no error")
			}
		}},
		{name: "paused", end: func(t *testing.T, l *Live) {
			l.Observe(applier.Opened{Workflow: "sales"})
			resume := l.Pause()
			defer l.Kill()
			defer resume()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tty, got := terminal(t)
			before := modes(t, tty)
			var clock atomic.Int64
			l := New(Options{In: tty, Out: tty, Now: func() time.Time {
				if clock.Add(1) == tt.panic {
					panic("planted")
				}
				return script.Noon
			}})
			l.Start()
			tt.end(t, l)
			<-l.ended
			if diff := cmp.Diff(before, modes(t, tty)); diff != "" {
				t.Errorf("keys are treated otherwise than before (-before +after):\n%s", diff)
			}
			if _, err := tty.WriteString("\nthe end\n"); err != nil {
				t.Fatal(err)
			}
			screen := got.until(t, "the end")
			for on, off := range map[string]string{enterScreen: leaveScreen, "\x1b[?25l": showCursor, "\x1b[?1002h": "\x1b[?1002l", "\x1b[?2004h": "\x1b[?2004l"} {
				if strings.LastIndex(screen, on) > strings.LastIndex(screen, off) {
					t.Errorf("%q is not taken back by %q: %q", on, off, screen)
				}
			}
		})
	}
}
