package applier

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/planner"
)

func TestBuildCycles(t *testing.T) {
	t.Parallel()
	id := uuid.NewSHA1(uuid.Nil, []byte("job"))
	tests := map[string]struct {
		job    config.Job
		recurs bool
		want   *wire.Job
	}{
		"nothing of it": {config.Job{}, false, &wire.Job{}},
		"a cron line": {config.Job{Schedule: &config.Schedule{Cron: "0 2 * * *", Timezone: "Europe/Berlin", Text: "cron 0 2 * * * Europe/Berlin"}}, true,
			&wire.Job{Schedule: &wire.Schedule{Cron: "0 2 * * *", Timezone: "Europe/Berlin"}}},
		"an interval with policies": {config.Job{Schedule: &config.Schedule{Every: "hour", Catchup: config.CatchupAll, Overlap: config.OverlapSkip, Disabled: true}}, true,
			&wire.Job{Schedule: &wire.Schedule{Every: "hour", Catchup: wire.Schedule_ALL, Overlap: wire.Schedule_SKIP, Disabled: true}}},
		"the other policies": {config.Job{Schedule: &config.Schedule{Every: "hour", Catchup: config.CatchupNone, Overlap: config.OverlapReplace}}, true,
			&wire.Job{Schedule: &wire.Schedule{Every: "hour", Catchup: wire.Schedule_NONE, Overlap: wire.Schedule_REPLACE}}},
		"a gate":                    {config.Job{Gate: &config.Gate{Waiting: []string{"a", "b"}}}, true, &wire.Job{Gate: []string{"a", "b"}}},
		"below one":                 {config.Job{}, true, &wire.Job{Template: true}},
		"what triggers, and cycles": {config.Job{TriggersGate: []string{"a"}, MaxCycles: 7, Sync: map[string]string{"cursor": "0"}}, false, &wire.Job{TriggersGate: []string{"a"}, MaxCycles: 7, Sync: map[string]string{"cursor": "0"}}},
		"what drops it":             {config.Job{ObsoleteIf: &config.ObsoleteIf{Labels: map[string]string{"team": "sales"}}}, false, &wire.Job{ObsoleteIf: map[string]string{"team": "sales"}}},
		"to all":                    {config.Job{Delivery: &config.Delivery{All: true}}, false, &wire.Job{Delivery: &wire.Delivery{To: wire.Delivery_ALL}}},
		"to one":                    {config.Job{Delivery: &config.Delivery{Worker: "w1"}}, false, &wire.Job{Delivery: &wire.Delivery{To: wire.Delivery_WORKER, Worker: "w1"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, want := test.job, test.want
			j.Addr, j.Type, j.Queue, j.Priority, j.Retry = addr(t, "job.load"), "noop", "etl", 1, defaultRetry
			want.Uuid, want.Name, want.Type, want.Queue = id.String(), "job.load", "noop", "etl"
			b := jobBuilder{namespace: "n"}
			got, err := b.build(&j, &planner.Record{UUID: id}, test.recurs)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		})
	}
}
