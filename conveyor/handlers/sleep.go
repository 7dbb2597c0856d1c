package handlers

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Sleep is the payload of a sleep job: it does nothing for Duration, in Go's notation ("1m30s").
type Sleep struct {
	Duration string `json:"duration"`
}

func sleep(ctx context.Context, _ *wire.Job, p Sleep, _ attempt) error {
	d, err := time.ParseDuration(p.Duration)
	if err != nil || d < 0 {
		return conveyor.Permanent(fmt.Errorf("%q is not a duration such as 1m30s", p.Duration))
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
