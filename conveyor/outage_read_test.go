package conveyor_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// logged is a log handler that tells when something is logged.
type logged chan string

func (logged) Enabled(context.Context, slog.Level) bool { return true }
func (s logged) Handle(_ context.Context, r slog.Record) error {
	select {
	case s <- r.Message:
	default:
	}
	return nil
}
func (s logged) WithAttrs([]slog.Attr) slog.Handler { return s }
func (s logged) WithGroup(string) slog.Handler      { return s }

// TestFullStoreReads: a full store refuses transactions, those that only read too. Whoever reads is told the reason, and whoever follows
// waits until there is room.
func TestFullStoreReads(t *testing.T) {
	t.Parallel()
	e := newEngine(t, redistest.Start(t).Client(t))
	e.add(job("a", labelled("team=x")))
	memory(e, 1)
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"verify":  func() error { _, err := e.Verify(ctx); return err },
		"inspect": func() error { _, err := e.Inspect(ctx, "a"); return err },
		"list": func() error {
			_, err := e.List(ctx, conveyor.ListOptions{Labels: map[string]string{"team": "x"}})
			return err
		},
		"templates": func() error { _, err := e.Templates(ctx, []string{"a"}); return err },
		"statuses":  func() error { _, _, err := e.StatusesAt(ctx, []string{"a"}); return err },
	} {
		if err := call(); err != nil && (!errors.Is(err, conveyor.ErrFull) || !errors.Is(err, conveyor.ErrUnavailable)) {
			t.Errorf("%s: got %v, want %v, which is recoverable", name, err, conveyor.ErrFull)
		}
	}
	warned := make(logged, 1)
	c, err := conveyor.NewClient(e.rdb, conveyor.Options{Namespace: e.Namespace(), Logger: slog.New(warned)})
	e.ok(err)
	go func() {
		<-warned
		memory(e, 0)
	}()
	for o, err := range c.Subscribe(ctx, conveyor.SubscribeOptions{UUIDs: []string{"a"}}) {
		if err != nil {
			t.Fatalf("who follows is given up: %v", err)
		}
		if !o.Snapshot || len(o.Jobs) != 1 || o.Jobs[0].State != conveyor.StateQueued {
			t.Errorf("it tells %+v", o)
		}
		break
	}
	e.sound()
}
