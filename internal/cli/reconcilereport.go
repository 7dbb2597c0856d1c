package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/waybill-dev/waybill/internal/controller"
	"github.com/waybill-dev/waybill/tui"
	"github.com/waybill-dev/waybill/tui/screen"
)

// controllerReport writes what controllers tell, of several at a time: lines on stderr, or JSON lines on stdout.
type controllerReport struct {
	a   *app
	log *slog.Logger

	mu   sync.Mutex
	json *tui.JSON // nil for lines
}

func (a *app) newControllerReport(json bool) *controllerReport {
	r := &controllerReport{a: a, log: slog.New(slog.NewTextHandler(a.p.Stderr, nil))}
	if json {
		r.json = tui.NewJSON(tui.JSONOptions{Out: a.p.Stdout})
		r.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return r
}

// opened says which store a workflow is in.
func (r *controllerReport) opened(s *store) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.json != nil {
		r.json.Version(Version, s.name, s.workflow)
		return
	}
	fmt.Fprintln(r.a.p.Stdout, s.line())
}

// observe writes what a controller tells. What comes from files and from the store is made safe to show.
func (r *controllerReport) observe(e controller.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	submits := e.Kind == controller.KindApplied || e.Kind == controller.KindHealed || e.Kind == controller.KindConsent
	if r.json != nil {
		line := tui.Reconciled{Level: e.Kind.Level(), Text: e.Text, Event: string(e.Kind), Workflow: e.Workflow, Revision: e.Revision, Job: e.Job, Plan: e.Plan,
			Diags: e.Diags, Files: e.Files}
		if submits {
			line.Changes = &tui.ReconciledChanges{Add: e.Added, Change: e.Changed, Remove: e.Destroyed}
		}
		r.json.Reconciled(line)
		return
	}
	var about []slog.Attr
	add := func(name, value string) {
		if value != "" {
			about = append(about, slog.String(name, screen.Clean(value)))
		}
	}
	if add("workflow", e.Workflow); e.Workflow == "" {
		add("dir", e.Dir)
	}
	if add("revision", e.Revision.Revision[:min(len(e.Revision.Revision), 12)]); e.Kind == controller.KindRevision {
		add("author", e.Revision.Author)
		add("message", e.Revision.Message)
	}
	add("plan", e.Plan)
	if e.Plan != "" && e.Dir != "" {
		add("consent", "waybill reconcile -approve="+e.Plan+" "+shellWord(e.Dir))
	}
	level := map[string]slog.Level{"warn": slog.LevelWarn, "error": slog.LevelError}[e.Kind.Level()]
	r.log.LogAttrs(context.Background(), level, screen.Clean(e.Text), about...)
	r.a.show(e.Diags, e.Files)
}
