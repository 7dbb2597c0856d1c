package conveyor_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWorkerStartsNothingExpired: what waited too long while no worker was there has expired before the first one reserves.
func TestWorkerStartsNothingExpired(t *testing.T) {
	onBothStores(t, func(s *workers) {
		w := s.worker(conveyor.WorkerOptions{Concurrency: 4})
		w.HandleRaw("step", func(_ context.Context, job *wire.Job) error {
			if job.Uuid == "late" {
				s.Error("a job runs that nobody wants any more")
			}
			return nil
		})
		s.ok(s.AddMany(s.Context(), []*wire.Job{
			{Uuid: "late", Type: "step", Queue: "q", Retention: durationpb.New(time.Hour)},
			{Uuid: "soon", Type: "step", Queue: "q", Retention: durationpb.New(24 * time.Hour)},
		}))
		s.ok(s.Redis().Set(s.Context(), s.Prefix()+"clock", "+7200000", 0).Err())
		stop := s.run(w)
		got := s.await(ended, "late", "soon")
		if got[0].State != conveyor.StateExpired || got[1].State != conveyor.StateCompleted {
			s.Errorf("late is %s, soon is %s", got[0].State, got[1].State)
		}
		stop()
		s.sound()
	})
}
