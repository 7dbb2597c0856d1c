package conveyor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOutputPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		o := newOutput(t.Context(), f, "u", 1)
		a := &Attempt{output: o}
		wantLog := func(want string, pieces int) {
			t.Helper()
			synctest.Wait()
			f.look(func() {
				if diff := cmp.Diff(want, f.log); diff != "" {
					t.Errorf("log (-want +got):\n%s", diff)
				}
				if len(f.pieces) != pieces {
					t.Errorf("%d pieces, want %d", len(f.pieces), pieces)
				}
			})
		}
		a.Log("one")
		a.Log("two\n")
		fmt.Fprint(a.Output(), "thr")
		wantLog("", 0)
		elapse(flushEvery)
		wantLog("one\ntwo\n", 1)
		fmt.Fprint(a.Output(), "ee\n")
		elapse(flushEvery)
		wantLog("one\ntwo\nthree\n", 2)
		fmt.Fprint(a.Output(), "ready? ") // a prompt
		elapse(flushEvery)
		wantLog("one\ntwo\nthree\n", 2)
		elapse(flushEvery)
		wantLog("one\ntwo\nthree\nready? ", 3)
		fmt.Fprint(a.Output(), "the end")
		if err := o.close(); err != nil {
			t.Error(err)
		}
		wantLog("one\ntwo\nthree\nready? the end", 4)
		a.Log("too late")
		elapse(time.Minute)
		wantLog("one\ntwo\nthree\nready? the end", 4)
	})
}

// TestOutputBound: the beginning and the end of a long log are kept, with a count of the rest.
func TestOutputBound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines int
	}{
		{"nothing", 0},
		{"under the head", keepHead/10 - 1},
		{"head full", keepHead / 10},
		{"all of the tail", (keepHead + keepTail) / 10},
		{"a little more", (keepHead+keepTail)/10 + 1},
		{"much more", 500_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				o := newOutput(t.Context(), f, "u", 1)
				var all bytes.Buffer
				for i := range tt.lines {
					line := fmt.Sprintf("%09d\n", i)
					all.WriteString(line)
					o.write([]byte(line), false)
				}
				if err := o.close(); err != nil {
					t.Fatal(err)
				}
				if len(f.log) > MaxLog {
					t.Errorf("%d bytes, the limit is %d", len(f.log), MaxLog)
				}
				missing := all.Len() - keepHead - keepTail
				if missing <= 0 {
					if f.log != all.String() {
						t.Errorf("%d bytes are not the %d written", len(f.log), all.Len())
					}
					return
				}
				want := fmt.Sprintf("%s\n[%d bytes of the log are not kept]\n%s", all.Bytes()[:keepHead], missing, all.Bytes()[all.Len()-keepTail:])
				if f.log != want {
					t.Errorf("%d bytes are not the head, a note of %d missing ones, and the tail", len(f.log), missing)
				}
			})
		})
	}
}

// TestOutputLostReplies: pieces are numbered, so repeating one is harmless, and none is left out.
func TestOutputLostReplies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		n := 0
		f.fail = func(_ string, done bool) error {
			if n++; n%3 == 0 || done && n%5 == 0 {
				return errLost
			}
			return nil
		}
		o := newOutput(t.Context(), f, "u", 1)
		var want strings.Builder
		for i := range 50 {
			line := fmt.Sprintln("line", i)
			want.WriteString(line)
			o.write([]byte(line), false)
			elapse(flushEvery / 3)
		}
		if err := o.close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want.String(), f.log); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

func TestOutputGivesUp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
	}{{"superseded", ErrOutdated}, {"no store", errLost}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				f.fail = func(string, bool) error { return tt.err }
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				o := newOutput(ctx, f, "u", 1)
				o.write([]byte("text\n"), false)
				if err := o.close(); !errors.Is(err, tt.err) {
					t.Errorf("error %v, want %v", err, tt.err)
				}
			})
		})
	}
}

func TestOutputProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		a := &Attempt{output: newOutput(t.Context(), f, "u", 1)}
		for i := range 100 {
			a.Progress(Progress{Done: int64(i + 1), Total: 100})
			elapse(flushEvery / 10)
		}
		elapse(flushEvery)
		if err := a.output.close(); err != nil {
			t.Error(err)
		}
		if n := len(f.progress); n > 12 || f.progress[n-1].Done != 100 {
			t.Errorf("%d calls, the last with %+v: want at most one in %s, and the latest value", n, f.progress[n-1], flushEvery)
		}
	})
}
