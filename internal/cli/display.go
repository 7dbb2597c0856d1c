package cli

import (
	"context"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui"
	"github.com/waybill-dev/waybill/tui/approve"
	"github.com/waybill-dev/waybill/tui/live"
)

// displayOptions choose how a run is shown.
type displayOptions struct {
	json, plain    bool // else what suits stdout
	destroy, watch bool
	ownWorker      bool
}

// display shows one run: it is the run's observer, and gives the terminal back when it is closed.
type display struct {
	applier.Observer
	a    *app
	live *live.Live // nil for lines
	json *tui.JSON  // nil but with -json

	asking sync.Mutex // held while a question has the terminal
}

// Observe shows an event, after a question that has the terminal is answered.
func (s *display) Observe(e applier.Event) {
	s.asking.Lock()
	defer s.asking.Unlock()
	s.Observer.Observe(e)
}

// asks lets the view of a plan have the terminal until it is answered.
func (s *display) asks(ctx context.Context, v *approve.View) (approve.Answer, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	s.a.stops.screen(v.Kill)
	defer s.a.stops.screen(nil)
	defer s.a.pauses.with(v.Pause)()
	return v.Ask(ctx)
}

// newDisplay chooses how a run is shown. A view that fills the screen starts with the first event that is no waiting for
// the lock, so that questions can be asked before.
func (a *app) newDisplay(s *store, o displayOptions) *display {
	sc := &display{a: a}
	switch {
	case o.json:
		sc.json = tui.NewJSON(tui.JSONOptions{Out: a.p.Stdout, Destroy: o.destroy, Watch: o.watch})
		sc.Observer = &unread{Observer: sc.json, a: a}
	case !o.plain && a.live():
		sc.live = live.New(live.Options{In: a.p.Stdin, Out: a.p.Stdout, NoColor: !a.ink(a.p.Stdout).On, Now: s.now, Destroy: o.destroy,
			OwnWorker: o.ownWorker, Stop: func(int) { a.stops.stop() }, Suspend: suspendSelf})
		sc.Observer = &lateView{live: sc.live, plain: a.plain(s, o), stops: a.stops, pauses: a.pauses}
	default:
		sc.Observer = &unread{Observer: a.plain(s, o), a: a}
	}
	sc.Observe(s.opened())
	return sc
}

func (a *app) plain(s *store, o displayOptions) *tui.Plain {
	return tui.NewPlain(tui.PlainOptions{Out: a.p.Stdout, Err: a.p.Stderr, Ink: a.ink(a.p.Stdout), Now: s.now, Destroy: o.destroy, Watch: o.watch})
}

// close gives the terminal back and writes what should stay. It may be called again.
func (s *display) close() {
	v, ok := s.Observer.(*lateView)
	if !ok || !v.started {
		return
	}
	v.unpause()
	if err := s.live.Close(); err != nil {
		s.a.complain(err)
	}
	s.a.stops.screen(nil)
}

// lateView is a live view that takes the terminal when there is something to see.
type lateView struct {
	live    *live.Live
	plain   *tui.Plain
	stops   *stops
	pauses  *pauses
	unpause func() // once it has started
	opened  applier.Opened
	started bool
}

// Observe is called from one goroutine.
func (v *lateView) Observe(e applier.Event) {
	if !v.started {
		switch o := e.(type) {
		case applier.Opened:
			v.opened = o
			return
		case applier.LockWaiting, applier.StoreAway, applier.StoreBack, applier.Replanned, applier.Warning, applier.WarningOver, applier.Done:
			v.plain.Observe(e)
			return
		}
		v.started = true
		v.stops.screen(v.live.Kill)
		v.live.Start()
		v.unpause = v.pauses.with(v.live.Pause)
		v.live.Observe(v.opened)
	}
	v.live.Observe(e)
}

// report shows diagnostics as the run is shown.
func (s *display) report(diags hcl.Diagnostics, files map[string]*hcl.File) {
	if s.json != nil {
		s.json.Diagnostics(diags, files)
		return
	}
	s.a.show(diags, files)
}
