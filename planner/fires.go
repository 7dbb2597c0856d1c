package planner

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// maxFires is how many of a schedule's next times a plan tells.
const maxFires = 3

// foretell fills in when the scheduled jobs fire next, and who opens the gates.
func (m *maker) foretell() {
	var openers map[string][]config.Addr
	for i := range m.rows {
		for _, label := range m.rows[i].Job.TriggersGate {
			if openers == nil {
				openers = map[string][]config.Addr{}
			}
			openers[label] = append(openers[label], m.rows[i].Addr)
		}
	}
	for i := range m.rows {
		r := &m.rows[i]
		if s := r.Job.Schedule; s != nil && !s.Disabled && !m.s.Now.IsZero() && !r.paused() {
			r.Fires = nextFires(s, m.s.Now)
		}
		if r.Job.Gate != nil {
			for _, label := range r.Job.Gate.Waiting {
				r.Openers = append(r.Openers, openers[label])
			}
		}
	}
}

// paused tells whether the row's schedule was paused by hand, and stays so: one that is submitted anew is not.
func (r *Row) paused() bool {
	return r.Live.Paused && r.Live.Status == Template && (r.Action == NoOp || r.Action == Rerecord || r.Action == Update)
}

func nextFires(s *config.Schedule, now time.Time) []time.Time {
	parsed, err := schedule.ParseText(s.Text)
	if err != nil {
		return nil // not reached: config has parsed it
	}
	fires := make([]time.Time, 0, maxFires)
	for at := now; len(fires) < maxFires; {
		if at = parsed.Next(at); at.IsZero() {
			break
		}
		fires = append(fires, at)
	}
	return fires
}

// zoneOf is the time zone of a schedule: UTC for intervals.
func zoneOf(s *config.Schedule) *time.Location {
	if s.Timezone != "" {
		if zone, err := time.LoadLocation(s.Timezone); err == nil {
			return zone
		}
	}
	return time.UTC
}

// fireText is a time as the schedule's zone shows it, and as UTC does where that differs: "on Sun 2026-11-22 at 02:00 CET
// (01:00 UTC)".
func fireText(at time.Time, zone *time.Location) string {
	clock := func(t time.Time) string {
		if t.Second() != 0 {
			return t.Format("15:04:05 MST")
		}
		return t.Format("15:04 MST")
	}
	local, utc := at.In(zone), at.UTC()
	text := "on " + local.Format("Mon 2006-01-02") + " at " + clock(local)
	if _, offset := local.Zone(); offset == 0 {
		return text
	}
	if local.Format(time.DateOnly) != utc.Format(time.DateOnly) {
		return text + " (" + utc.Format("Mon 2006-01-02 ") + clock(utc) + ")"
	}
	return text + " (" + clock(utc) + ")"
}

// rhythm says how often a declared template runs.
func (r *Row) rhythm() string {
	switch j := r.Job; {
	case j == nil:
		return "once"
	case j.Schedule != nil:
		return "by a schedule"
	case j.Gate != nil:
		return "whenever its gate opens"
	default:
		return "in each cycle of " + r.Root.String()
	}
}

// cycleNotes tell of a template that this plan makes or changes when it runs, or what it waits for.
func (r *Row) cycleNotes() (notes []string) {
	if !r.Recurs() || r.Action == NoOp || r.Action == Rerecord {
		return nil
	}
	if r.Action == Update && r.Live.Status == Template && r.newSync() {
		notes = append(notes, "its sync gives first values only: what its occurrences carry by now stays")
	}
	switch s := r.Job.Schedule; {
	case s != nil && s.Disabled:
		return append(notes, "its schedule is disabled: its times pass unused")
	case s != nil && r.paused():
		return append(notes, "its schedule is paused by hand: its times pass unused until it is resumed (waybill job resume)")
	case s != nil:
		word := "fires "
		for _, at := range r.Fires {
			notes = append(notes, word+fireText(at, zoneOf(s)))
			word = "then "
		}
		return notes
	case r.Job.Gate != nil:
		notes = append(notes, "it runs each time that "+gateText(r.Job.Gate.Waiting)+" was triggered")
		for i, openers := range r.Openers {
			notes = append(notes, openersText(r.Job.Gate.Waiting[i], openers))
		}
		return notes
	case r.Reason != ReasonRecurs && (r.Action == Create || r.Action == Replace):
		return []string{"it runs once in each cycle of " + r.Root.String()}
	default:
		return notes
	}
}

// newSync tells whether a row declares other first values of sync than are recorded.
func (r *Row) newSync() bool {
	some := bytes.Contains(r.Prior.Definition, []byte(`"sync":`)) || len(r.Job.Sync) > 0
	return some && !reflect.DeepEqual(decodeDefinition(r.Prior.Definition)["sync"], decodeDefinition(r.Definition)["sync"])
}

// gateText names the labels of a gate.
func gateText(labels []string) string {
	const most = 5
	names := make([]string, len(labels))
	for i, label := range labels {
		names[i] = quoted(label)
	}
	if len(names) == 1 {
		return "the label " + names[0]
	}
	return "each of the labels " + listed(names, most)
}

// openersText says whose success triggers a label.
func openersText(label string, jobs []config.Addr) string {
	const most = 3
	if len(jobs) == 0 {
		return quoted(label) + " is triggered by no job of this workflow"
	}
	names := make([]string, len(jobs))
	for i, a := range jobs {
		names[i] = a.String()
	}
	return quoted(label) + " is triggered when " + listedOr(names, most) + " succeeds"
}

// listedOr joins names of which any will do.
func listedOr(names []string, most int) string {
	if len(names) <= most && len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	}
	if len(names) > most {
		return fmt.Sprintf("%s or one of %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, "")
}

// scheduled is a sentence about the schedules of a plan that changes nothing, "" without any.
func (p *Plan) scheduled() string {
	var first *Row
	schedules, paused, disabled, gates := 0, 0, 0, 0
	for _, r := range p.Rows {
		switch {
		case r.Job == nil || r.Live.Status != Template:
		case r.Job.Gate != nil:
			gates++
		case r.Job.Schedule != nil && r.Job.Schedule.Disabled:
			disabled++
		case r.Job.Schedule != nil && r.paused():
			paused++
		case r.Job.Schedule != nil:
			schedules++
			if len(r.Fires) > 0 && (first == nil || r.Fires[0].Before(first.Fires[0])) {
				first = r
			}
		}
	}
	var parts []string
	if schedules > 0 {
		text := counted(schedules, "job is scheduled", "jobs are scheduled")
		if first != nil {
			name := "it"
			if schedules > 1 {
				name = first.Addr.String()
			}
			text += fmt.Sprintf("; %s fires next %s", name, fireText(first.Fires[0], zoneOf(first.Job.Schedule)))
		}
		parts = append(parts, text+".")
	}
	if paused > 0 {
		them := "it"
		if paused > 1 {
			them = "them"
		}
		parts = append(parts, counted(paused, "schedule is", "schedules are")+" paused by hand: \"waybill job resume\" lets "+them+" go on.")
	}
	if disabled > 0 {
		parts = append(parts, counted(disabled, "schedule is", "schedules are")+" disabled.")
	}
	if gates > 0 {
		parts = append(parts, counted(gates, "gate waits", "gates wait")+" for labels.")
	}
	return strings.Join(parts, " ")
}

// scheduleBody is what programs are told of one declared schedule or gate.
type scheduleBody struct {
	Schedule scheduleMembers `json:"schedule"`
}

type scheduleMembers struct {
	Resource resource `json:"resource"`
	Enabled  bool     `json:"enabled"`
	Paused   bool     `json:"paused,omitempty"` // by hand
	When     string   `json:"when,omitempty"`   // canonical text of the schedule
	Timezone string   `json:"timezone,omitempty"`
	Next     []string `json:"next,omitempty"`    // in the schedule's zone
	Waiting  []string `json:"waiting,omitempty"` // labels of a gate
}

// recurrence is the message about a root that is declared once the plan is applied.
func (r *Row) recurrence() Message {
	name, s := r.Addr.String(), r.Job.Schedule
	text := name + ": Scheduled"
	switch {
	case r.Job.Gate != nil:
		text = name + ": Waits for " + gateText(r.Job.Gate.Waiting)
	case s.Disabled:
		text = name + ": Disabled"
	case r.paused():
		text = name + ": Paused by hand"
	case len(r.Fires) > 0:
		text = name + ": Fires " + fireText(r.Fires[0], zoneOf(s))
	}
	return Message{Type: "planned_schedule", Text: text, Body: encodeBody(scheduleBody{r.schedule()})}
}

// showsRecurrence tells whether programs are told of the row's schedule or gate.
func (r *Row) showsRecurrence() bool {
	return r.Job != nil && isTemplateRoot(r.Job) && r.Reason != ReasonNotTargeted && r.Reason != ReasonExcluded
}

func (r *Row) schedule() scheduleMembers {
	m := scheduleMembers{Resource: resourceOf(r.Addr), Enabled: true}
	if gate := r.Job.Gate; gate != nil {
		m.Waiting = gate.Waiting
		return m
	}
	s := r.Job.Schedule
	zone := zoneOf(s)
	m.Enabled, m.Paused, m.When, m.Timezone = !s.Disabled, r.paused(), s.Text, zone.String()
	for _, at := range r.Fires {
		m.Next = append(m.Next, at.In(zone).Format(time.RFC3339))
	}
	return m
}
