package conveyor

import (
	"context"
	"time"
)

// wakeWait is how long one blocking call waits for a wake-up: long, so that an idle worker costs little.
const wakeWait = 5 * time.Second

// cycleSpread is within what time after a schedule's tick the workers ask for it: the first of them begins its cycle.
const cycleSpread = 50 * time.Millisecond

// ticks does the namespace's upkeep every BeatEvery until ctx ends, so that the jobs of a dead worker are back in their
// queues no later than DeadAfter + BeatEvery after its last beat; and at the ticks of schedules, of which the first comes after
// cycle.
func (w *Worker) ticks(ctx context.Context, cycle time.Duration) {
	for {
		wait := time.Duration(float64(BeatEvery) * (0.9 + 0.1*w.o.Random()))
		if cycle > 0 {
			wait = min(wait, cycle+time.Duration(float64(cycleSpread)*w.o.Random()))
		}
		if !sleep(ctx, wait) {
			return
		}
		cycle = w.tick(ctx)
	}
}

// tick does all upkeep that is due, and tells when the next tick of a schedule comes; 0: none is known.
func (w *Worker) tick(ctx context.Context) time.Duration {
	for {
		reply, err := w.engine.Tick(ctx)
		if err != nil {
			if ctx.Err() == nil {
				w.o.Logger.Warn("tick failed", "worker", w.o.ID, "error", err)
			}
			return 0
		}
		w.reached()
		for _, id := range reply.Dead {
			w.o.Logger.Warn("worker announced dead", "worker", id)
		}
		if !reply.More || ctx.Err() != nil {
			return reply.Cycle
		}
	}
}

// wakes passes on wake-ups until ctx ends. A blocking call does not notice that by itself: Run wakes its own worker.
func (w *Worker) wakes(ctx context.Context) {
	for pause := newPause(); ctx.Err() == nil; {
		woken, err := w.engine.WaitWake(ctx, w.o.ID, wakeWait)
		if err != nil {
			if !pause.wait(ctx) {
				return
			}
			continue
		}
		pause = newPause()
		if woken {
			hint(w.readyHint)
		}
	}
}

// wake ends a WaitWake of the worker. Like every wake-up it is a hint, and gone soon when nobody hears it.
func (c *Client) wake(ctx context.Context, workerID string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	pipe := c.moment(ctx)
	pipe.LPush(ctx, c.keys.wake(workerID), "")
	pipe.PExpire(ctx, c.keys.wake(workerID), 2*wakeWait)
	_, err := pipe.Exec(ctx)
	return err
}
