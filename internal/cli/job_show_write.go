package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/tui/board"
)

// write shows a job to people.
func (x *jobView) write(a *app) {
	out, ink := a.p.Stdout, a.ink(a.p.Stdout)
	s := x.Status
	title := s.UUID
	if address := x.roll.address(s.UUID); address != "" {
		title = address + ", " + s.UUID
	} else if name := x.job.GetName(); name != "" && s.Template != "" {
		title = conveyor.OccurrenceName(name, s.Tick) + ", " + s.UUID
	} else if of := x.job.GetDelivery().GetOf(); of != "" {
		title = deliveryName(x.roll.name(of), s) + ", " + s.UUID
	} else if name != "" {
		title = name + ", " + s.UUID
	}
	fmt.Fprintf(out, "%s\n\n", ink.Bold(clean(title)))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-11s %s\n", name, clean(fmt.Sprintf(format, args...)))
	}
	state := stateText(s)
	if m := moment(x.now, s); m != "-" && s.State != conveyor.StateHeld {
		state += ", " + m
	}
	if x.template != nil {
		state = templateState(x.template.Template)
	}
	line("state", "%s", state)
	if x.template != nil {
		for _, l := range x.template.lines() {
			line(l[0], "%s", l[1])
		}
	}
	if s.Template != "" {
		line("template", "%s", x.roll.name(s.Template))
		line("cycle", "%s", x.cycleText())
	}
	line("queue", "%s, priority %s", s.Queue, []string{"low", "normal", "high"}[s.Priority])
	if x.kind != "" {
		line("type", "%s", x.kind)
	}
	if s.Owner != "" {
		line("worker", "%s", s.Owner)
	}
	if x.template == nil && !s.Broadcast { // workers start what they get of it
		line("attempts", "%s, %d failed, %d lost", countOf(s.Fence, "start", "starts"), s.Attempts, s.Lost)
	}
	if s.MaxCycles > 0 && x.template == nil {
		line("cycles", "%d of %d (max_cycles)", s.Cycles, s.MaxCycles)
	}
	if x.template != nil && len(x.template.Sync) > 0 {
		line("sync", "%s", board.SyncText(x.template.Sync))
	}
	if s.Opening > 1 {
		line("opening", "%d", s.Opening)
	}
	if !s.ExpiresAt.IsZero() {
		line("expires", "%s, at %s", distance(x.now, s.ExpiresAt), stamp(s.ExpiresAt))
	}
	if s.Unique != "" {
		holder := "not held"
		if x.Holder == s.UUID {
			holder = "held"
		} else if x.Holder != "" {
			holder = "held by " + x.roll.name(x.Holder)
		}
		line("unique", "%s, %s", s.Unique, holder)
	}
	if labels := ownLabels(x.labels); labels != "" {
		line("labels", "%s", labels)
	}
	if len(x.ObsoleteIf) > 0 {
		line("obsolete_if", "%s", x.obsoleteText())
	}
	if s.Cause != "" {
		line("because of", "%s", x.roll.name(s.Cause))
	}
	if !x.progress.At.IsZero() || x.progress.Done > 0 || x.progress.Text != "" {
		line("progress", "%s", x.progressText())
	}
	if x.failure != "" {
		line("failure", "%s", strings.ReplaceAll(x.failure, "\n", "\n              "))
	}
	if x.result != "" {
		line("result", "%s", shortened(x.result, 400))
	}
	part := func(name string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(out, "\n  %s\n", ink.Bold(name))
		for _, l := range lines {
			fmt.Fprintf(out, "    %s\n", clean(l))
		}
	}
	part("Waits for", x.waits)
	part("Delivered", x.deliveryLines())
	part("Payload", x.payload().lines())
	part("Edges", x.edgeLines())
	if x.template != nil {
		part("Latest cycles", x.cycleLines())
	}
	part("End of its log", x.log)
}

// obsoleteText tells which labels of a live job make this one obsolete, and which live jobs have them if it is.
func (x *jobView) obsoleteText() string {
	text := ownLabels(x.ObsoleteIf)
	switch {
	case x.Status.State != conveyor.StateObsolete:
		return text
	case len(x.roots) > 0:
		return text + ": it is obsolete since a live job had them, as " + strings.Join(x.roots, ", ") + " has now"
	}
	return text + ": it is obsolete since a live job had them, which is over by now"
}

// deliveryLines are what workers got of a job for all.
func (x *jobView) deliveryLines() []string {
	var out []string
	for _, d := range x.Delivered {
		out = append(out, fmt.Sprintf("to %s: %s; %s", d.Inbox(), stateText(d), d.UUID))
	}
	if x.Status.Broadcast && len(out) == 0 {
		return []string{"to no worker that is known still"}
	}
	return out
}

// cycleText tells the cycle of an occurrence.
func (x *jobView) cycleText() string {
	text := tickText(x.Status.Tick)
	for _, c := range x.cycles {
		if c.Tick.Equal(x.Status.Tick) && c.Jobs > 0 {
			text += fmt.Sprintf(", %s, %s", board.OutcomeText(c), countOf(int64(c.Jobs), "job", "jobs"))
			if c.Failed > 0 {
				text += fmt.Sprintf(", %d of them failed", c.Failed)
			}
			break
		}
	}
	if x.cycle == nil {
		text += "; its template is gone"
	}
	return text
}

// cycleLines are the latest cycles of a template, as a table.
func (x *jobView) cycleLines() []string {
	if len(x.cycles) == 0 {
		return []string{"none yet"}
	}
	var b strings.Builder
	table(&b, x.template.cycleRows(x.cycles)) //nolint:errcheck // a builder takes everything
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func (x *jobView) progressText() string {
	p := x.progress
	text := fmt.Sprint(p.Done)
	if percent, ok := p.Percent(); ok {
		text = fmt.Sprintf("%d of %d (%d%%)", p.Done, p.Total, percent)
	}
	if p.Text != "" {
		text += ", " + p.Text
	}
	if !p.At.IsZero() {
		text += ", " + since(x.now, p.At)
	}
	return text
}

func (x *jobView) edgeLines() []string {
	var out []string
	for _, e := range x.Edges {
		how := "parent"
		if e.Kind == wire.Edge_PREDECESSOR {
			how = "predecessor, run if " + strings.ToLower(e.RunIf.String())
		} else if e.Ignore {
			how = "parent, which a failure of this job does not fail"
		}
		state := stateText(e.Upstream)
		if e.Upstream.State == conveyor.StateUnknown {
			state = "gone or never seen"
		}
		out = append(out, fmt.Sprintf("%s (%s): %s; %s", x.roll.name(e.Upstream.UUID), how, e.Decision, state))
	}
	return out
}

// shortened is a text cut to so many bytes.
func shortened(text string, most int) string {
	if !utf8.ValidString(text) {
		return fmt.Sprintf("%d bytes that are no text", len(text))
	}
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("... (%d bytes)", len(text))
}

// shownEdge is an edge in job show -json.
type shownEdge struct {
	Upstream string `json:"upstream"`
	Address  string `json:"address,omitempty"`
	Kind     string `json:"kind"`
	RunIf    string `json:"run_if,omitempty"`
	Opening  int64  `json:"opening"`
	Decision string `json:"decision"`
	State    string `json:"state"`
}

type shownProgress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Text  string `json:"text,omitempty"`
	At    string `json:"at,omitempty"`
}

// shownDetail is a job in job show -json.
type shownDetail struct {
	Format string `json:"format_version"`
	listedJob
	Type     string         `json:"type,omitempty"`
	Holder   string         `json:"unique_holder,omitempty"`
	Cause    string         `json:"cause,omitempty"`
	Edges    []shownEdge    `json:"edges"`
	Children []string       `json:"unfinished_children,omitempty"`
	WaitsFor []string       `json:"waits_for,omitempty"`
	Failure  string         `json:"failure,omitempty"`
	Result   string         `json:"result,omitempty"`
	Progress *shownProgress `json:"progress,omitempty"`
	Payload  *shownPayload  `json:"payload,omitempty"` // of a job with a type of its own
	Log      []string       `json:"log_tail"`
	Template *shownTemplate `json:"template,omitempty"` // of a template

	ObsoleteIf map[string]string `json:"obsolete_if,omitempty"`
	ObsoleteBy []string          `json:"obsolete_by,omitempty"` // live jobs, by address or uuid
	Delivered  []shownDelivery   `json:"delivered,omitempty"`   // of a job for all
}

// shownDelivery is what one worker got of a job for all, in job show -json.
type shownDelivery struct {
	Worker string `json:"worker"`
	UUID   string `json:"uuid"`
	State  string `json:"state"`
}

func (x *jobView) document() shownDetail {
	d := shownDetail{Format: "1.0", listedJob: listJob(x.roll, x.Status, x.labels), Type: x.kind, Holder: x.Holder, Cause: x.Status.Cause,
		Edges: []shownEdge{}, WaitsFor: x.waits, Failure: x.failure, Result: x.result, Log: append([]string{}, x.log...),
		ObsoleteIf: x.ObsoleteIf, ObsoleteBy: x.roots, Payload: x.payload()}
	for _, w := range x.Delivered {
		d.Delivered = append(d.Delivered, shownDelivery{w.Inbox(), w.UUID, w.State.String()})
	}
	for _, e := range x.Edges {
		s := shownEdge{Upstream: e.Upstream.UUID, Address: x.roll.address(e.Upstream.UUID), Kind: strings.ToLower(e.Kind.String()), Opening: e.Opening,
			Decision: string(e.Decision), State: e.Upstream.State.String()}
		if e.Kind == wire.Edge_PREDECESSOR {
			s.RunIf = strings.ToLower(e.RunIf.String())
		}
		d.Edges = append(d.Edges, s)
	}
	if x.template != nil {
		d.Template = x.template.shown()
		d.Template.Latest, d.Next = cyclesJSON(x.cycles), tickText(x.template.Next)
	}
	for _, child := range x.Children {
		d.Children = append(d.Children, child.UUID)
	}
	slices.Sort(d.Children)
	if x.progress != (conveyor.Progress{}) {
		d.Progress = &shownProgress{x.progress.Done, x.progress.Total, x.progress.Text, stamp(x.progress.At)}
	}
	return d
}
