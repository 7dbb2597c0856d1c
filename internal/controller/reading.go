package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// reading is a configuration as it was read.
type reading struct {
	rev      Revision
	id       string // of the revision, or made of the content
	dir      string
	workflow *config.Workflow // not to be applied where diags has errors
	diags    hcl.Diagnostics
	settings *config.Workflow // the workflow block, where diags has errors and these leave it alone; nil otherwise

	archived []byte            // the configuration for the history, once it was asked for
	without  string            // why there is none
	of       *applier.Revision // of the history, if it was recalled from there
	latest   int64             // number of the latest revision there at that time
}

// valid tells whether the configuration can be planned.
func (r *reading) valid() bool { return !r.diags.HasErrors() }

// source is the revision as it is recorded with what is applied.
func (r *reading) source() planner.Source {
	if r.of != nil {
		s := r.of.Source.Clean()
		s.Revision = r.id
		return s
	}
	return planner.Source{Revision: r.id, Author: r.rev.Author, Message: r.rev.Message, Time: r.rev.Time}.Clean()
}

// archive is the configuration for the workflow's history, or why there is none.
func (r *reading) archive() (archive []byte, without string) {
	if r.archived == nil && r.without == "" {
		data, err := r.workflow.Archive()
		if r.archived = data; err != nil {
			r.archived, r.without = nil, err.Error()
		}
	}
	return r.archived, r.without
}

// look reads what the source shows. What goes wrong is told, and leaves what was known.
func (l *Loop) look(ctx context.Context) {
	rev, dir, err := l.o.Source.Revision(ctx)
	if err != nil {
		if ctx.Err() == nil {
			l.once(KindWarning, Event{Text: fmt.Sprintf("the source cannot be read: %v", err)}, err.Error())
		}
		l.figures.unread()
		return
	}
	w, diags := l.o.Load(dir)
	r := &reading{rev: rev, id: rev.ID, dir: dir, workflow: w, diags: diags}
	if r.id == "" {
		r.id = contentOf(w)
	}
	if !r.valid() && l.o.Settings != nil {
		if w, diags := l.o.Settings(dir); w.Named || !diags.HasErrors() {
			r.settings = w
		}
	}
	l.over(KindWarning)
	if s, ok := l.o.Source.(Watcher); ok && w != nil {
		if err := s.Watch(w.Files()); err != nil {
			l.once(KindWarning, Event{Dir: dir, Text: fmt.Sprintf("%v; the interval of %s finds them", err, l.o.Interval)}, err.Error())
		}
	}
	first, changed := l.newest == nil, l.newest == nil || l.newest.id != r.id
	if prior := l.newest; prior != nil && prior.valid() && l.lease == nil {
		l.good = prior // as far as a standby can tell; whoever leads judges it when it applies it
	}
	l.newest = r
	l.figures.shown(r)
	if r.valid() && (changed || l.lease == nil) {
		l.figures.validated() // a leader judges it yet
	}
	if changed {
		l.failures, l.round = 0, l.read
		l.inSync = false
		l.over(KindRejected, KindRecalled, KindConsent, KindWaiting)
		clear(l.warned)
		text := "the source shows a new revision"
		if first {
			text = "the source was read"
		}
		l.tell(Event{Kind: KindRevision, Text: text})
	}
	if !r.valid() {
		l.reject(r, &refusal{why: "it does not validate", diags: r.diags, files: r.workflow.Sources})
	}
}

// current is the configuration that says which store is meant: the newest that can be planned, or else the workflow block of one that
// cannot. Nil for none.
func (l *Loop) current() *config.Workflow {
	switch {
	case l.newest != nil && l.newest.valid():
		return l.newest.workflow
	case l.good != nil:
		return l.good.workflow
	case l.newest != nil && l.newest.settings != nil:
		return l.newest.settings
	default:
		return nil
	}
}

// maxHashed bounds how much of one file goes into the name of a content. Of a larger one size and time do.
const maxHashed = 16 << 20

// contentOf names a configuration by what is in it: the same files give the same name wherever they lie.
func contentOf(w *config.Workflow) string {
	if w == nil {
		return ""
	}
	h := sha256.New()
	name := func(path string) string {
		if rel, err := filepath.Rel(w.Dir, path); err == nil {
			return filepath.ToSlash(rel)
		}
		return path
	}
	for _, path := range slices.Sorted(maps.Keys(w.Sources)) {
		fmt.Fprintf(h, "%q %d\n", name(path), len(w.Sources[path].Bytes))
		h.Write(w.Sources[path].Bytes)
	}
	known := map[string]bool{}
	for _, j := range w.Jobs {
		for _, in := range j.Inputs {
			known[filepath.Join(w.Dir, filepath.FromSlash(in.Path))] = true
			fmt.Fprintf(h, "%q %x\n", in.Path, in.SHA256)
		}
	}
	for _, path := range w.Files() {
		if w.Sources[path] == nil && !known[path] {
			fmt.Fprintf(h, "%q ", name(path))
			hashFile(h, path)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// hashFile hashes a regular file. Others, and those that are not there, stand for themselves.
func hashFile(h io.Writer, path string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if info.Size() <= maxHashed {
		if data, err := os.ReadFile(path); err == nil {
			h.Write(data) //nolint:errcheck // a hash takes everything
			return
		}
	}
	fmt.Fprintf(h, "%d %d", info.Size(), info.ModTime().UnixNano())
}
