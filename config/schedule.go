package config

import (
	"errors"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/conveyor/schedule"
)

// Schedule is a run_at block with every or cron. It makes the job a template: never run itself, it emits one occurrence per
// tick, and so does every job downstream of it.
type Schedule struct {
	// Exactly one of Every and Cron is set; Timezone goes with Cron only. They are as written.
	Every, Cron, Timezone string
	Text                  string // canonical: equal for spellings of the same ticks, as schedule.ParseText reads it
	Catchup               Catchup
	Overlap               Overlap
	Disabled              bool // enabled = false: ticks pass unused
	Range                 hcl.Range
}

// Catchup says which ticks are made up for that passed while nobody could emit them.
type Catchup uint8

// The values of catchup; the zero value is the default.
const (
	CatchupLast Catchup = iota // the latest only
	CatchupNone
	CatchupAll // the latest hundred, oldest first
)

var catchups = []string{"last", "none", "all"}

func (c Catchup) String() string { return catchups[c] }

// Overlap says what becomes of a tick while an earlier cycle is not over.
type Overlap uint8

// The values of overlap; the zero value is the default.
const (
	OverlapAllow   Overlap = iota // both run
	OverlapSkip                   // the tick passes unused
	OverlapReplace                // the earlier cycle is cancelled
)

var overlaps = []string{"allow", "skip", "replace"}

func (o Overlap) String() string { return overlaps[o] }

// schedule reads a run_at block whose time is said by every or cron.
func (s *scope) schedule(b *block, which *attribute, job *Job) {
	c := b.inner
	to := &Schedule{Range: b.header}
	job.Schedule = to
	if i, ok := s.choice(c.attr("catchup"), catchups...); ok {
		to.Catchup = Catchup(i)
	}
	if i, ok := s.choice(c.attr("overlap"), overlaps...); ok {
		to.Overlap = Overlap(i)
	}
	if enabled, ok := s.boolean(c.attr("enabled")); ok {
		to.Disabled = !enabled
	}
	text, ok := s.scheduleText(which)
	zone, zoneOK := "", true
	if a := c.attr("timezone"); s.given(a) {
		zone, zoneOK = s.scheduleText(a)
	}
	if !ok || !zoneOK {
		return
	}
	if which.name == "every" {
		to.Every = text
	} else {
		to.Cron = text
	}
	to.Timezone = zone
	parsed, err := schedule.Parse(to.Every, to.Cron, zone)
	if err != nil {
		s.badSchedule(c, which, err)
		return
	}
	to.Text = parsed.String()
}

// scheduleText reads a text that is wrong when it is empty: the schedule's parser takes that for one that is not given.
func (s *scope) scheduleText(a *attribute) (string, bool) {
	text, ok := s.text(a)
	if text == "" {
		text = " "
	}
	return text, ok
}

// badSchedule reports what is wrong with a schedule, at the argument that holds the mistake.
func (s *scope) badSchedule(c *content, which *attribute, err error) {
	var mistake *schedule.Error
	if !errors.As(err, &mistake) {
		s.r.error(sumCannotEvaluate, which.expr.Range(), "This schedule cannot be read: %v. Please report this, it is a defect of Waybill.", err)
		return
	}
	at := which
	if a := c.attr(mistake.Attribute); a != nil {
		at = a
	}
	detail, near, _ := strings.Cut(mistake.Detail, "; did you mean ")
	if detail += "."; near != "" {
		detail += " Did you mean " + near
	}
	value := clip(strings.TrimSpace(mistake.Value))
	switch mistake.Kind {
	case schedule.ErrEvery:
		s.r.error(sumBadInterval, at.expr.Range(), "%q is no interval: %s", value, detail)
	case schedule.ErrCron:
		s.r.error(sumBadCron, at.expr.Range(), "%q is no cron line: %s", value, detail)
	case schedule.ErrZone:
		s.r.error(sumBadZone, at.expr.Range(), "%q is no time zone: %s", value, detail)
	case schedule.ErrNever:
		s.r.error(sumNeverFires, at.expr.Range(), "%q never fires: %s", value, detail)
	default:
		s.r.error(sumConflict, at.expr.Range(), "%s", upperFirst(detail))
	}
}
