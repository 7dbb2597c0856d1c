package handlers

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestScheduledFor(t *testing.T) {
	t.Parallel()
	at := timestamppb.New(time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC))
	for _, row := range []struct {
		name string
		job  *wire.Job
		want string // "" is none
	}{
		{"neither", &wire.Job{}, ""},
		{"a time", &wire.Job{RunAt: at}, "2026-11-21T06:00:00Z"},
		{"an occurrence", &wire.Job{TemplateUuid: "t", Tick: "1795219200000"}, "2026-11-21T00:00:00Z"},
		{"between two seconds", &wire.Job{TemplateUuid: "t", Tick: "1795219200020"}, "2026-11-21T00:00:00.02Z"},
		{"an occurrence of a job with a time", &wire.Job{TemplateUuid: "t", Tick: "1795219200000", RunAt: at}, "2026-11-21T00:00:00Z"},
	} {
		got, ok := scheduledFor(row.job)
		if ok != (row.want != "") || ok && got != row.want {
			t.Errorf("%s: %q, %v, want %q", row.name, got, ok, row.want)
		}
	}
}
