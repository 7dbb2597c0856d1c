package conveyor_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

// standing is what a survey or its events say of jobs.
func standing(jobs []conveyor.Status) string {
	text := ""
	for _, s := range jobs {
		text += fmt.Sprintf(" %s=%s", s.UUID, s.State)
	}
	return text
}

func TestSurvey(t *testing.T) {
	onBoth(t, func(e *engine) {
		reads := func(s *conveyor.Survey, want ...string) {
			e.Helper()
			batch, err := s.Next(e.Context(), 0)
			e.ok(err)
			var got []string
			for _, event := range batch.Events {
				got = append(got, event.Kind+standing(event.Jobs))
			}
			if diff := cmp.Diff(want, got); diff != "" || batch.Gap {
				e.Errorf("gap %t, events (-want +got):\n%s", batch.Gap, diff)
			}
		}
		e.Behaviour("where all jobs stand, then what happens", func(e *engine) {
			e.add(job("b"), job("a"))
			s, err := e.Survey(e.Context())
			e.ok(err)
			if got := standing(s.Jobs); got != " a=queued b=queued" {
				e.Errorf("surveyed%s", got)
			}
			reads(s)
			e.add(job("c"))
			e.ok(e.Cancel(e.Context(), "a"))
			reads(s, "add c=queued", "cancel a=cancelled")
			reads(s)
			last, err := e.LastEvent(e.Context())
			e.ok(err)
			if s.Seq() != last {
				e.Errorf("is at %d, want %d", s.Seq(), last)
			}
		})
		e.Behaviour("a namespace without jobs", func(e *engine) {
			s, err := e.Survey(e.Context())
			e.ok(err)
			reads(s)
			e.add(job("a"))
			reads(s, "add a=queued")
		})
		e.Behaviour("an entry that cannot be read is told, and hides no other", func(e *engine) {
			e.add(job("a"))
			e.ok(e.rdb.HSet(e.Context(), e.key("status"), "b", "?").Err())
			s, err := e.Survey(e.Context())
			e.ok(err)
			if len(s.Jobs) != 1 || len(s.Damaged) != 1 {
				e.Errorf("surveyed %v, damaged %v", s.Jobs, s.Damaged)
			}
			e.ok(e.rdb.HDel(e.Context(), e.key("status"), "b").Err())
		})
		e.Behaviour("a gap, and a namespace that was emptied", func(e *engine) {
			e.add(job("a"))
			s, err := e.Survey(e.Context())
			e.ok(err)
			emptied, err := e.Survey(e.Context())
			e.ok(err)
			e.add(job("b"))
			e.add(job("c"))
			e.ok(e.rdb.XTrimMaxLen(e.Context(), e.key("events"), 1).Err())
			if batch, err := s.Next(e.Context(), 0); err != nil || !batch.Gap {
				e.Errorf("gap %t, %v", batch.Gap, err)
			}
			e.ok(e.rdb.Del(e.Context(), e.keys()...).Err())
			if batch, err := emptied.Next(e.Context(), 0); err != nil || !batch.Gap {
				e.Errorf("emptied: gap %t, %v", batch.Gap, err)
			}
		})
	})
}

// TestManyReads are the readings of one thing for many jobs.
func TestManyReads(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"), job("b"))
		r := e.take("a")
		e.ok(e.SetProgress(e.Context(), "a", r.Fence, conveyor.Progress{Done: 3, Total: 4, Text: "of it"}))
		for i := range 5 {
			e.ok(e.AppendLog(e.Context(), "a", r.Fence, int64(i+1), fmt.Appendf(nil, "line %d\n", i)))
		}
		progress, err := e.ProgressesOf(e.Context(), []string{"b", "a", "none"})
		e.ok(err)
		if len(progress) != 3 || progress[1].Done != 3 || progress[1].Text != "of it" || progress[0] != (conveyor.Progress{}) {
			e.Errorf("progress is %+v", progress)
		}
		end, err := e.LogEnd(e.Context(), "a", r.Fence, 2)
		e.ok(err)
		if len(end) != 2 || string(end[0].Text)+string(end[1].Text) != "line 3\nline 4\n" {
			e.Errorf("the log ends with %+v", end)
		}
		if end, err = e.LogEnd(e.Context(), "a", r.Fence+1, 2); err != nil || len(end) != 0 {
			e.Errorf("another attempt's log ends with %+v, %v", end, err)
		}
		e.end(r, conveyor.VerdictFailed)
		failures, err := e.Failures(e.Context(), []string{"b", "a"})
		e.ok(err)
		one, err := e.Failure(e.Context(), "a")
		e.ok(err)
		if diff := cmp.Diff([]string{"", one}, failures); diff != "" {
			e.Errorf("failures (-want +got):\n%s", diff)
		}
		beats, now, err := e.Beats(e.Context())
		e.ok(err)
		if at, ok := beats["w"]; len(beats) != 1 || !ok || at.After(now) {
			e.Errorf("beats are %v at %v", beats, now)
		}
	})
}
