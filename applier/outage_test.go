package applier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestEndurance(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("connect: %w", conveyor.ErrUnavailable)
	away := func(begin time.Time, until time.Duration, err error) func(context.Context) error {
		return func(context.Context) error {
			if time.Since(begin) < until {
				return err
			}
			return nil
		}
	}
	for _, row := range []struct {
		name    string
		call    func(begin time.Time) func(context.Context) error
		want    []string // what was told, and when
		err     error
		took    time.Duration // until it returned; at most outagePauseMax more
		endless bool
		silence time.Duration
	}{
		{"it answers", func(b time.Time) func(context.Context) error { return away(b, 0, nil) }, nil, nil, 0, false, 0},
		{"a moment's outage is not told", func(b time.Time) func(context.Context) error { return away(b, time.Second, refused) }, nil, nil, time.Second, false, 0},
		{"a longer one is, and its end", func(b time.Time) func(context.Context) error { return away(b, 8*time.Second, refused) },
			[]string{"away for 2s, 13s left", "away for 7s, 8s left", "back"}, nil, 8 * time.Second, false, 0},
		{"one without end", func(b time.Time) func(context.Context) error { return away(b, time.Hour, refused) },
			[]string{"away for 2s, 13s left", "away for 7s, 8s left", "away for 12s, 3s left"}, refused, outagePatience, false, 0},
		{"a call that hangs before it fails", func(b time.Time) func(context.Context) error {
			return func(ctx context.Context) error {
				<-time.After(3 * time.Second) // by the clock of the test
				return away(b, 4*time.Second, refused)(ctx)
			}
		}, []string{"away for 3s, 12s left", "back"}, nil, 6 * time.Second, false, 0},
		{"calls that hang after one that failed", func(b time.Time) func(context.Context) error {
			calls := 0
			return func(ctx context.Context) error {
				if calls++; calls == 1 {
					return refused
				}
				<-ctx.Done()
				return ctx.Err()
			}
		}, []string{"away for 2s, 13s left", "away for 7s, 8s left", "away for 12s, 3s left"}, refused, outagePatience, false, 0},
		{"what only people mend", func(b time.Time) func(context.Context) error {
			return away(b, time.Hour, fmt.Errorf("%w: %w", conveyor.ErrUnavailable, conveyor.ErrFull))
		}, nil, conveyor.ErrFull, 0, false, 0},
		{"a call that takes long, and does not fail", func(b time.Time) func(context.Context) error {
			return func(context.Context) error {
				<-time.After(12 * time.Second) // by the clock of the test
				return nil
			}
		}, []string{"away for 5s, 0s left", "away for 10s, 0s left", "back"}, nil, 12 * time.Second, true, 5 * time.Second},
		{"a call that takes a little, and then one that fails", func(b time.Time) func(context.Context) error {
			return func(context.Context) error {
				<-time.After(time.Second) // by the clock of the test
				return away(b, 4*time.Second, refused)(nil)
			}
		}, []string{"away for 2s, 0s left", "back"}, nil, 4 * time.Second, true, 5 * time.Second},
		{"patience without end", func(b time.Time) func(context.Context) error { return away(b, 20*time.Second, refused) },
			[]string{"away for 2s, 0s left", "away for 7s, 0s left", "away for 12s, 0s left", "away for 17s, 0s left", "back"}, nil, 20 * time.Second, true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var told []string
				begin := time.Now()
				n := endurance{then: "so what", endless: row.endless, silence: row.silence, post: func(e Event) {
					mu.Lock()
					defer mu.Unlock()
					switch e := e.(type) {
					case StoreAway:
						told = append(told, fmt.Sprintf("away for %s, %s left", e.For.Round(time.Second), e.Left.Round(time.Second)))
						if e.Reason != refused.Error() && (row.err != nil || e.Reason != errSilent.Error()) || e.Then != "so what" {
							t.Errorf("told %+v", e)
						}
					case StoreBack:
						told = append(told, "back")
					}
				}}
				err := n.call(t.Context(), row.call(begin))
				took := time.Since(begin)
				<-time.After(time.Minute) // by the clock of the test: nothing more is told
				mu.Lock()
				defer mu.Unlock()
				if diff := cmp.Diff(row.want, told); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if !errors.Is(err, row.err) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it ends with %v, want %v", err, row.err)
				}
				if took < row.took || took > row.took+outagePauseMax+outageLastTry {
					t.Errorf("it took %s, want about %s", took, row.took)
				}
			})
		})
	}
}
