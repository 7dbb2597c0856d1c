package applier

import (
	"time"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// SchedulesSeen lists the schedules and gates of a watched namespace: once a second at most, when something in it has changed,
// and every five seconds. Those of workflows come first, by workflow and address; then those of nobody, by uuid. The first
// maxSchedules are listed.
type SchedulesSeen struct {
	At        time.Time // the store's clock
	Schedules []ScheduleSeen
	Total     int // with those that are not listed
}

// ScheduleSeen is one schedule or gate at a glance.
type ScheduleSeen struct {
	Workflow string            // "" for a template of nobody
	Addr     config.Addr       // of the record; zero for a template of nobody
	Template conveyor.Template // when it fires, whether it is paused or on hold, which cycles are live
	Last     conveyor.Cycle    // the latest that is over, or the latest tick that made none; its Tick is zero without one
	Counts   StateCounts       // how many of its occurrences, and of those downstream, are in which state
}

// OccurrenceChanged is a change of an occurrence: a job that the engine made from the template of a recorded address for one
// cycle. It has no record, and no place among the jobs of Following: see OccurrencesSeen.
type OccurrenceChanged struct {
	JobChanged // Addr is the template's; Status.Template, Root and Tick say which occurrence it is
}

// Name is the address of the occurrence: job.nightly@2026-11-21T01:00:00Z.
func (e OccurrenceChanged) Name() string {
	return conveyor.OccurrenceName(e.Addr.String(), e.Status.Tick)
}

// OccurrencesSeen lists the occurrences of a workflow's templates, those that are live and those that are over and still kept, the
// latest cycles first. It follows a Following, and replaces what was told of occurrences before, of a workflow that has some or had.
type OccurrencesSeen struct {
	Jobs  []conveyor.Status // the first maxOccurrences
	Total int
}

func (SchedulesSeen) event()     {}
func (OccurrencesSeen) event()   {}
func (OccurrenceChanged) event() {}

// maxOccurrences is how many occurrences of a workflow are told at once.
const maxOccurrences = 1000

// maxSchedules is how many schedules and gates are told at once.
const maxSchedules = 1000
