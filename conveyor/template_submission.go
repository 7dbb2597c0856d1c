package conveyor

import (
	"fmt"
	"strconv"

	"github.com/waybill-dev/waybill/conveyor/schedule"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// settingsOf is what apply.lua takes of a template beside its entry: "<kind><catchup><overlap><disabled>|<max_cycles>|<schedule>",
// see lua/lib/template.lua; "" for other jobs. The job has been validated.
func settingsOf(job *wire.Job) (string, error) {
	if !isTemplate(job) {
		return "", nil
	}
	kind, when, disabled := byte('d'), "", byte('0')
	switch s := job.Schedule; {
	case s != nil:
		parsed, err := schedule.Parse(s.Every, s.Cron, s.Timezone)
		if err != nil {
			return "", fmt.Errorf("schedule: %w", err)
		}
		kind, when = 's', parsed.String()
		if s.Disabled {
			disabled = '1'
		}
	case len(job.Gate) > 0:
		kind = 'g'
	}
	b := []byte{kind, "lna"[job.Schedule.GetCatchup()], "asr"[job.Schedule.GetOverlap()], disabled, '|'}
	b = strconv.AppendInt(b, int64(job.MaxCycles), 10)
	return string(append(append(b, '|'), when...)), nil
}
