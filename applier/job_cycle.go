package applier

import (
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// setCycles writes what makes a job run again and again, who gets it, and what drops it. A template that is neither scheduled
// nor a gate is downstream of one that is.
func setCycles(job *wire.Job, j *config.Job, recurs bool) {
	if s := j.Schedule; s != nil {
		job.Schedule = &wire.Schedule{Every: s.Every, Cron: s.Cron, Timezone: s.Timezone, Catchup: wireCatchup(s.Catchup),
			Overlap: wireOverlap(s.Overlap), Disabled: s.Disabled}
	}
	if j.Gate != nil {
		job.Gate = j.Gate.Waiting
	}
	job.Template = recurs && j.Schedule == nil && j.Gate == nil
	job.TriggersGate, job.Sync, job.MaxCycles = j.TriggersGate, j.Sync, int32(j.MaxCycles)
	if j.ObsoleteIf != nil {
		job.ObsoleteIf = j.ObsoleteIf.Labels
	}
	switch to := j.Delivery; {
	case to == nil:
	case to.All:
		job.Delivery = &wire.Delivery{To: wire.Delivery_ALL}
	default:
		job.Delivery = &wire.Delivery{To: wire.Delivery_WORKER, Worker: to.Worker}
	}
}

func wireCatchup(c config.Catchup) wire.Schedule_Catchup {
	switch c {
	case config.CatchupNone:
		return wire.Schedule_NONE
	case config.CatchupAll:
		return wire.Schedule_ALL
	default:
		return wire.Schedule_LAST
	}
}

func wireOverlap(o config.Overlap) wire.Schedule_Overlap {
	switch o {
	case config.OverlapSkip:
		return wire.Schedule_SKIP
	case config.OverlapReplace:
		return wire.Schedule_REPLACE
	default:
		return wire.Schedule_ALLOW
	}
}
