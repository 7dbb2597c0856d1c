package applier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// keep makes the runs that follow record a configuration: any text will do.
func (l *lab) keep(config string) {
	l.Helper()
	if l.run.Keyring == nil {
		k, err := conveyor.NewKeyring("a secret of a test, long enough")
		l.ok(err)
		l.run.Keyring = k
	}
	l.run.Archive = []byte(config)
}

func (l *lab) history() History {
	l.Helper()
	h, err := ReadHistory(l.Context(), l.Client, l.workflow.Name)
	l.ok(err)
	return h
}

// numbers are those of the revisions, and of how many of them there is a configuration.
func (l *lab) numbers() (list []int64, archives int) {
	l.Helper()
	for _, r := range l.history().Revisions {
		list = append(list, r.Number)
	}
	n, err := l.Redis().HLen(l.Context(), l.Prefix()+archivesKey(l.workflow.Name)).Result()
	l.ok(err)
	return list, int(n)
}

// TestHistory applies, and reads what is told of it.
func TestHistory(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"), l.job("b"))
		l.run.Who = "ann@desk"
		l.apply()
		l.apply() // nothing to do
		l.keep("one")
		l.run.Source = planner.Source{Revision: "c0ffee\x1b[2J", Author: "Ann", Message: "first\n\nand more", Time: time.Unix(1e9, 7)}
		l.declare(l.job("a", payload("2")), l.job("c"))
		l.apply()
		l.run.Archive, l.run.WithoutArchive, l.run.Source = nil, "it is too large", planner.Source{}
		l.declare(l.job("a", payload("3")))
		l.apply()
		l.destroy()
		h := l.history()
		want := []Revision{
			{Number: 4, Who: "ann@desk", Operation: "destroy", Source: planner.Source{Author: "ann@desk"}, Destroyed: 1, Complete: true, Without: "nothing is declared after it"},
			{Number: 3, Who: "ann@desk", Operation: "apply", Source: planner.Source{Author: "ann@desk"}, Changed: 1, Destroyed: 1, Complete: true, Without: "it is too large"},
			{Number: 2, Who: "ann@desk", Operation: "apply", Source: planner.Source{Revision: "c0ffee[2J", Author: "Ann", Message: "first", Time: time.Unix(1e9, 0).UTC()},
				Added: 1, Changed: 1, Destroyed: 1, Complete: true},
			{Number: 1, Who: "ann@desk", Operation: "apply", Source: planner.Source{Author: "ann@desk"}, Added: 2, Complete: true, Without: "the configuration was not kept"},
		}
		if d := cmp.Diff(want, h.Revisions, cmpopts.IgnoreFields(Revision{}, "At", "Config", "Size")); d != "" {
			l.Errorf("-want +got:\n%s", d)
		}
		two, err := h.Find("2")
		l.ok(err)
		if !h.Archives[two.Config] || two.Config != ConfigName(l.run.Keyring, []byte("one")) || two.At.IsZero() {
			l.Errorf("revision 2 is %+v, and there are %v", two, h.Archives)
		}
		data, err := ReadArchive(l.Context(), l.Client, l.run.Keyring, "w", two)
		if string(data) != "one" || err != nil {
			l.Errorf("its configuration is %q (%v)", data, err)
		}
		stored, err := l.Redis().HGet(l.Context(), l.Prefix()+archivesKey("w"), two.Config).Bytes()
		l.ok(err)
		if bytes.Contains(stored, []byte("one")) {
			l.Errorf("it is stored as %q", stored)
		}
		other, err := conveyor.NewKeyring("another secret of a test, long too")
		l.ok(err)
		if _, err := ReadArchive(l.Context(), l.Client, other, "w", two); !errors.Is(err, conveyor.ErrUnknownKey) {
			l.Errorf("with another key: %v", err)
		}
		l.ok(l.Redis().HSet(l.Context(), l.Prefix()+archivesKey("w"), two.Config, append(stored, 'x')).Err())
		if _, err := ReadArchive(l.Context(), l.Client, l.run.Keyring, "w", two); !errors.Is(err, conveyor.ErrBadSeal) {
			l.Errorf("changed in the store: %v", err)
		}
	})
}

// TestHistoryInterrupted: what stopped on its way is told as such, and what follows is told by itself.
func TestHistoryInterrupted(t *testing.T) {
	onBoth(t, func(l *lab) {
		var jobs []string
		for i := range 5 {
			jobs = append(jobs, fmt.Sprint("j", i))
		}
		l.declare(l.job(jobs[0]), l.job(jobs[1]), l.job(jobs[2]), l.job(jobs[3]), l.job(jobs[4]))
		l.run.batch = 1
		ctx, cancel := context.WithCancel(l.Context())
		defer cancel()
		rows := 0
		l.run.probe = func(phase string) {
			if rows++; phase == "rows" && rows > 2 {
				cancel()
			}
		}
		var interrupted *InterruptedError
		if _, err := l.tryApply(ctx); !errors.As(err, &interrupted) {
			l.Fatal(err)
		}
		l.run.probe = nil
		h := l.history()
		if len(h.Revisions) != 1 || h.Revisions[0].Complete || h.Revisions[0].Added != 5 {
			l.Fatalf("after the first: %+v", h.Revisions)
		}
		l.apply()
		h = l.history()
		if len(h.Revisions) != 2 || !h.Revisions[0].Complete || h.Revisions[0].Added < 1 || h.Revisions[0].Added > 4 || h.Revisions[1].Complete {
			l.Errorf("after the second: %+v", h.Revisions)
		}
	})
}

// TestHistoryBounded: the history of a workflow that changes for ever stays as it is.
func TestHistoryBounded(t *testing.T) {
	onBoth(t, func(l *lab) {
		for i := range maxRevisions + 20 {
			l.declare(l.job("a", payload(fmt.Sprint(i))))
			l.keep(fmt.Sprint("number ", i/2))
			l.apply()
		}
		list, archives := l.numbers()
		if len(list) != maxRevisions || list[0] != maxRevisions+20 || list[len(list)-1] != 21 || archives != maxRevisions/2 {
			l.Errorf("there are %d revisions, %d to %d, and %d configurations", len(list), list[0], list[len(list)-1], archives)
		}
	})
}

// TestHistoryCarried: it goes with the state to another name, and can still be opened.
func TestHistoryCarried(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.workflow.Name = "v"
		l.keep("one")
		l.apply()
		l.declare(l.job("a", payload("2")))
		l.workflow.MovedFrom = "v"
		l.keep("two")
		l.apply()
		h := l.history()
		if len(h.Revisions) != 2 || len(h.Archives) != 2 {
			l.Fatalf("there are %+v", h)
		}
		for i, want := range []string{"two", "one"} {
			data, err := ReadArchive(l.Context(), l.Client, l.run.Keyring, "w", h.Revisions[i])
			if string(data) != want || err != nil {
				l.Errorf("revision %d is %q (%v)", h.Revisions[i].Number, data, err)
			}
		}
		if n, err := l.Redis().Exists(l.Context(), l.Prefix()+revisionsKey("v"), l.Prefix()+archivesKey("v")).Result(); n != 0 || err != nil {
			l.Errorf("something is left under the old name (%v)", err)
		}
	})
}

// TestKeepRollback: what follows a source does not undo a rollback until the source shows something new.
func TestKeepRollback(t *testing.T) {
	onBoth(t, func(l *lab) {
		follow := func(revision, config string) error {
			l.run.KeepRollback, l.run.Rollback = true, 0
			l.run.Source = planner.Source{Revision: revision}
			l.keep(config)
			l.declare(l.job("a", payload(config)))
			_, err := l.tryApply(l.Context())
			return err
		}
		back := func(to int64, config string) {
			l.run.KeepRollback, l.run.Rollback, l.run.Source = false, to, planner.Source{Revision: "of " + config}
			l.keep(config)
			l.declare(l.job("a", payload(config)))
			l.apply()
		}
		l.ok(follow("A", "good"))
		l.ok(follow("B", "bad"))
		l.ok(follow("C", "worse"))
		back(1, "good")
		for _, row := range []struct{ revision, config string }{{"C", "worse"}, {"B", "bad"}, {"C", "other"}, {"D: only a text", "worse"}} {
			err := follow(row.revision, row.config)
			var passed *RolledBackError
			if !errors.As(err, &passed) || passed.Rollback.Number != 4 || passed.Rollback.Of != 1 || passed.Over.Number < 2 {
				l.Errorf("%v: %v", row, err)
			}
		}
		if list, _ := l.numbers(); len(list) != 4 {
			l.Errorf("there are the revisions %v", list)
		}
		back(2, "bad") // elsewhere
		if err := follow("C", "worse"); err == nil {
			l.Error("the second rollback did not stand")
		}
		l.ok(follow("D", "mended"))
		l.ok(follow("C", "worse")) // a source that went back after the rollback was over
		if err := l.history().PassedOver(planner.Source{Revision: "B"}, ""); err != nil {
			l.Errorf("a rollback that is over: %v", err)
		}
	})
}

// TestHistoryRefused: what cannot be read is said before anything is written.
func TestHistoryRefused(t *testing.T) {
	onBoth(t, func(l *lab) {
		l.declare(l.job("a"))
		l.apply()
		for _, row := range []struct{ field, value, want string }{
			{"x", "1 {}", "it is no number"}, {"0", "1 {}", "it is no number"}, {"2", "1 {", "unexpected end"}, {"2", "", "unexpected end"},
		} {
			key := l.Prefix() + revisionsKey("w")
			l.ok(l.Redis().HSet(l.Context(), key, row.field, row.value).Err())
			l.declare(l.job("a", payload(row.want)))
			if _, err := l.tryApply(l.Context()); !errors.Is(err, conveyor.ErrCorrupt) || !strings.Contains(err.Error(), row.want) {
				l.Errorf("%q = %q: %v", row.field, row.value, err)
			}
			l.ok(l.Redis().HDel(l.Context(), key, row.field).Err())
		}
		h := l.history()
		for _, name := range []string{"", "2", "-1", "c0ffee", "nothing"} {
			if _, err := h.Find(name); !errors.Is(err, ErrNoRevision) {
				l.Errorf("%q: %v", name, err)
			}
		}
		h = History{Revisions: []Revision{{Number: 3, Source: planner.Source{Revision: "abcdefg1"}}, {Number: 2, Source: planner.Source{Revision: "abcdefg1"}},
			{Number: 1, Source: planner.Source{Revision: "abcdefg2"}}}}
		if r, err := h.Find("abcdefg1"); r.Number != 3 || err != nil {
			l.Errorf("the latest of a commit: %d, %v", r.Number, err)
		}
		if _, err := h.Find("abcdefg"); !errors.Is(err, ErrNoRevision) || !strings.Contains(err.Error(), "several") {
			l.Errorf("the beginning of two: %v", err)
		}
	})
}
