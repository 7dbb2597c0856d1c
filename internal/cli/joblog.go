package cli

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// logJobs tells of each attempt that ends on this worker, in one line.
func logJobs(log *slog.Logger) conveyor.Middleware {
	return func(next conveyor.Handler) conveyor.Handler {
		return func(ctx context.Context, job *wire.Job) error {
			began := time.Now()
			err := next(ctx, job)
			about := []any{"job", cmp.Or(job.GetName(), job.GetUuid()), "start", conveyor.FromContext(ctx).Fence(),
				"took", time.Since(began).Round(time.Millisecond)}
			if err != nil {
				log.Warn("job failed", append(about, "error", conveyor.FromContext(ctx).Mask(err.Error()))...)
			} else {
				log.Info("job done", about...)
			}
			return err
		}
	}
}
