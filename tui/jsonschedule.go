package tui

import (
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
)

// scheduleJSON is a schedule or a gate as it stands when a run has ended.
type scheduleJSON struct {
	Addr    string   `json:"addr"`
	Next    string   `json:"next,omitempty"`
	Waiting []string `json:"waiting,omitempty"` // labels of a gate that are still to come
	Stopped string   `json:"stopped,omitempty"` // off, paused, on hold
	Text    string   `json:"text"`
}

func scheduleOf(s applier.ScheduleSeen, now time.Time) scheduleJSON {
	out := scheduleJSON{Addr: s.Addr.String(), Stopped: board.Stopped(s.Template), Text: board.NextRun(s, now)}
	if s.Template.Kind == conveyor.TemplateScheduled && !s.Template.Next.IsZero() && out.Stopped == "" {
		out.Next = s.Template.Next.UTC().Format(time.RFC3339)
	}
	for _, g := range s.Template.Gate {
		if !g.Flipped {
			out.Waiting = append(out.Waiting, g.Label)
		}
	}
	return out
}
