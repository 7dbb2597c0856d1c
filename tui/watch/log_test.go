package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

func entry(fence, n int64, text string) conveyor.LogEntry {
	return conveyor.LogEntry{Fence: fence, N: n, At: script.Noon, Text: []byte(text)}
}

func shown(l *joblog, width, height int) []string {
	var lines []string
	for _, line := range l.view(width, height) {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	full := entry(2, 3, "")
	full.Dropped = 99
	l := newLog(time.UTC, false)
	l.add([]conveyor.LogEntry{entry(1, 1, "one\ntw"), entry(1, 2, "o\n\nthr")})
	l.add([]conveyor.LogEntry{entry(1, 3, "ee"), entry(2, 1, "10%\r\x1b[2K20%\r\n"), entry(2, 2, "end"), full})
	want := []string{"── start 1, 12:00:00 ──", "one", "two", "", "three", "── start 2, 12:00:00 ──", "20%", "end", "── the log is full: 99 bytes left out ──"}
	if diff := cmp.Diff(want, shown(&l, 80, 40)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (conveyor.LogPosition{Fence: 2, N: 3}); l.at != want {
		t.Errorf("it goes on after %v, want %v", l.at, want)
	}
}

func TestLogScrolls(t *testing.T) {
	t.Parallel()
	l := newLog(time.UTC, false)
	for n := range int64(20) {
		l.add([]conveyor.LogEntry{entry(1, n+1, fmt.Sprintf("line %d\n", n+1))})
	}
	if got := shown(&l, 40, 3); got[2] != "line 20" {
		t.Errorf("following shows %q", got)
	}
	l.scroll(-2, 40, 3)
	if got := shown(&l, 40, 3); l.follow || got[2] != "line 18" {
		t.Errorf("two lines up shows %q", got)
	}
	l.add([]conveyor.LogEntry{entry(1, 21, "line 21\n")})
	if got := shown(&l, 40, 3); got[2] != "line 18" {
		t.Errorf("a new line moves what is read to %q", got)
	}
	l.scroll(3, 40, 3)
	if got := shown(&l, 40, 3); !l.follow || got[2] != "line 21" {
		t.Errorf("the end shows %q, follows %v", got, l.follow)
	}
	l.scroll(-far, 40, 3)
	if got := shown(&l, 40, 3); got[1] != "line 1" {
		t.Errorf("the beginning shows %q", got)
	}
	l.wrap = true
	for _, line := range l.view(4, 6) {
		if len(line) > 4 && !strings.Contains(line, "─") {
			t.Errorf("a wrapped line is %q", line)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	l := newLog(time.UTC, false)
	for n := range int64(60) {
		l.add([]conveyor.LogEntry{entry(1, n+1, strings.Repeat("x\n", 1000)+strings.Repeat("y", 3*keptLine)+"\n")})
	}
	if n := l.count(); n > keptLines*5/4 {
		t.Errorf("%d lines are kept", n)
	}
	if l.left+l.count() < 60*1000 {
		t.Errorf("%d lines are told of", l.left+l.count())
	}
	for _, line := range l.lines {
		if len(line) > keptLine {
			t.Fatalf("a line of %d bytes is kept", len(line))
		}
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	r := &rates{}
	r.count(script.At(0), 10, 5)
	r.count(script.At(10), 30, 15)
	if starts, ends := r.recent(script.At(10)); starts != 2 || ends != 1 {
		t.Errorf("%v starts and %v ends a second, want 2 and 1", starts, ends)
	}
	r.count(script.At(15), 30, 15)
	if starts, _ := r.recent(script.At(15)); starts != 1 {
		t.Errorf("%v starts a second after five quiet ones, want 1", starts)
	}
	if got := spark(r.series(script.At(20), 12, false)); got != "··········██" && got != "··········▅█" && len([]rune(got)) != 12 {
		t.Errorf("spark %q", got)
	}
	r.count(script.At(1000), 3000, 15)
	if starts, _ := r.recent(script.At(1000)); starts > 30 || starts < 20 {
		t.Errorf("%v starts a second after a long silence", starts)
	}
	r.count(script.At(1001), 1, 1) // another watch
	sum := 0.0
	for _, v := range r.series(script.At(1001), 60, false) {
		sum += v
	}
	if sum < 0 {
		t.Errorf("negative rates: %v", sum)
	}
}
