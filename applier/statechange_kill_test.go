package applier

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
)

// TestStateChangeKilled kills state rm and state mv before and after each of their writes: every record is where it was or where it
// is to be, none in both places or in neither, and the same command again does the rest.
func TestStateChangeKilled(t *testing.T) {
	const n = 250 // more than a batch
	for name, command := range map[string]func(ctx context.Context, l *lab) error{
		"rm": func(ctx context.Context, l *lab) error {
			_, err := Forget(ctx, l.Client, "w", []config.Addr{addr(l.T, "job.a")}, StateChange{Operation: "state rm"})
			return err
		},
		"mv": func(ctx context.Context, l *lab) error {
			_, err := Move(ctx, l.Client, "w", addr(l.T, "job.a"), addr(l.T, "job.b"), StateChange{Operation: "state mv"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(l *lab) {
				var jobs []*config.Job
				for i := range n {
					jobs = append(jobs, l.job(fmt.Sprintf("a[%d]", i)))
				}
				l.declare(jobs...)
				for at := 1; ; at++ {
					for _, after := range []bool{false, true} {
						l.apply()
						before := l.state()
						ctx, cancel := context.WithCancel(l.Context())
						x := &executioner{at: at, after: after, stop: cancel}
						rdb := l.store.connect(l.T)
						rdb.AddHook(x)
						err := command(ctx, l.rival(rdb))
						cancel()
						if !x.isDead() {
							l.ok(err)
						}
						between := l.state()
						for i := range n {
							a, b := between.Records[fmt.Sprintf("job.a[%d]", i)], between.Records[fmt.Sprintf("job.b[%d]", i)]
							if was := before.Records[fmt.Sprintf("job.a[%d]", i)].UUID; a != nil && b != nil || name == "mv" && a == nil && b == nil || a != nil && a.UUID != was || b != nil && b.UUID != was {
								l.Fatalf("killed at write %d: record %d is %+v and %+v", at, i, a, b)
							}
						}
						l.unlock()
						if err := command(l.Context(), l); err != nil && len(between.Records) > 0 && between.Records["job.a[249]"] != nil {
							l.Errorf("again after write %d: %v", at, err)
						}
						left := l.state()
						for i := range n {
							if r := left.Records[fmt.Sprintf("job.a[%d]", i)]; r != nil {
								l.Fatalf("record %d is left after the second %s", i, name)
							}
						}
						if diff := cmp.Diff(name == "mv", len(left.Records) == n); diff != "" {
							l.Errorf("%d records in the end", len(left.Records))
						}
						l.destroy()
						if !x.isDead() {
							return
						}
					}
				}
			})
		})
	}
}

// unlock removes what a killed holder has left.
func (l *lab) unlock() {
	l.Helper()
	l.ok(l.Redis().Del(l.Context(), l.Prefix()+lockKey("w")).Err())
}
