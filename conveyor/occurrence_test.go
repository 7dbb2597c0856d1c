package conveyor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestOccurrences(t *testing.T) {
	t.Parallel()
	tick := time.Date(2026, 11, 21, 2, 0, 0, 0, time.FixedZone("CET", 3600))
	id, err := uuid.Parse(OccurrenceUUID("t", "t", tick))
	if err != nil || id.Version() != 5 || id.Variant() != uuid.RFC4122 {
		t.Errorf("%v: version %d, variant %v: %v", id, id.Version(), id.Variant(), err)
	}
	seen := map[string]bool{}
	for _, row := range []struct {
		template, root string
		tick           time.Time
	}{{"t", "t", tick}, {"t", "r", tick}, {"r", "t", tick}, {"t", "t", tick.Add(time.Millisecond)}} {
		u := OccurrenceUUID(row.template, row.root, row.tick)
		if seen[u] || u != OccurrenceUUID(row.template, row.root, row.tick.UTC()) {
			t.Errorf("%+v: %s", row, u)
		}
		seen[u] = true
	}
	for _, row := range []struct {
		tick time.Time
		want string
	}{
		{tick, "nightly@2026-11-21T01:00:00Z"},
		{tick.Add(1500 * time.Millisecond), "nightly@2026-11-21T01:00:01.5Z"},
		{tick.Add(7 * time.Millisecond), "nightly@2026-11-21T01:00:00.007Z"},
	} {
		if got := OccurrenceName("nightly", row.tick); got != row.want {
			t.Errorf("got %s, want %s", got, row.want)
		}
	}
}

func TestTickOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		job  *wire.Job
		want time.Time
	}{
		{"an occurrence", &wire.Job{TemplateUuid: "t", Tick: "1500"}, time.UnixMilli(1500).UTC()},
		{"any other job", &wire.Job{}, time.Time{}},
		{"a tick of nothing", &wire.Job{Tick: "1500"}, time.Time{}},
		{"no number", &wire.Job{TemplateUuid: "t", Tick: "noon"}, time.Time{}},
	} {
		got, ok := TickOf(row.job)
		if diff := cmp.Diff(row.want, got); diff != "" || ok == row.want.IsZero() {
			t.Errorf("%s: %v (-want +got):\n%s", row.name, ok, diff)
		}
	}
}
