package conveyor_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// A schedule makes a job a template, and what waits for it has to be one too: each night both run once. A cycle can be
// begun by hand as well.
func ExampleClient_RunTemplate() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	if err := c.AddMany(ctx, []*wire.Job{
		{Uuid: "report", Type: "Report", Queue: "etl", Template: true, PredecessorUuid: "load"},
		{Uuid: "load", Type: "Load", Queue: "etl", Schedule: &wire.Schedule{Cron: "0 2 * * *", Timezone: "Europe/Berlin"}},
	}); err != nil {
		log.Fatal(err)
	}
	tick, err := c.RunTemplate(ctx, "load")
	if err != nil {
		log.Fatal(err)
	}
	members, err := c.Members(ctx, "load", tick)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range members {
		fmt.Println(s.Template, "is", s.State)
	}
	found, err := c.Templates(ctx, []string{"load", "report"})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range found {
		fmt.Println(t.UUID, "is", t.Kind, "below", t.Root)
	}
	fmt.Println("next:", found[0].Next.In(time.FixedZone("CET", 3600)).Minute(), "past the hour")
	// Output:
	// load is queued
	// load is scheduled below load
	// report is downstream below load
	// next: 0 past the hour
}

// Backfill makes up for ticks that passed before there was a schedule, or while it was paused.
func ExampleClient_Backfill() {
	c, stop := inProcess()
	defer stop()
	ctx := context.Background()
	if err := c.Add(ctx, &wire.Job{Uuid: "load", Type: "Load", Queue: "etl", Schedule: &wire.Schedule{Every: "6 hours"}}); err != nil {
		log.Fatal(err)
	}
	day := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	ticks, err := c.Backfill(ctx, "load", day, day.Add(18*time.Hour), true) // only tell
	if err != nil {
		log.Fatal(err)
	}
	for _, tick := range ticks {
		fmt.Println(tick.Format(time.RFC3339))
	}
	// Output:
	// 2026-11-20T00:00:00Z
	// 2026-11-20T06:00:00Z
	// 2026-11-20T12:00:00Z
	// 2026-11-20T18:00:00Z
}
