package conveyor

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/waybill-dev/waybill/conveyor/schedule"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// isTemplate tells whether a job is one that is never run itself. An occurrence has the fields of its template and is none.
func isTemplate(job *wire.Job) bool {
	return job.TemplateUuid == "" && (job.Schedule != nil || len(job.Gate) > 0 || job.Template)
}

// settingsOf is what apply.lua takes of a template beside its entry: "<kind><catchup><overlap><disabled>|<max_cycles>|<schedule>",
// see lua/lib/template.lua; "" for other jobs.
func settingsOf(job *wire.Job) (string, error) {
	if !isTemplate(job) {
		return "", nil
	}
	kind, when := byte('d'), ""
	switch s := job.Schedule; {
	case s != nil:
		parsed, err := schedule.Parse(s.Every, s.Cron, s.Timezone)
		if err != nil {
			return "", fmt.Errorf("schedule: %w", err)
		}
		kind, when = 's', parsed.String()
	case len(job.Gate) > 0:
		kind = 'g'
	}
	catchup, overlap := job.Schedule.GetCatchup(), job.Schedule.GetOverlap()
	if catchup < wire.Schedule_LAST || catchup > wire.Schedule_ALL {
		return "", fmt.Errorf("schedule: catchup %d is none of the known ones", catchup)
	}
	if overlap < wire.Schedule_ALLOW || overlap > wire.Schedule_REPLACE {
		return "", fmt.Errorf("schedule: overlap %d is none of the known ones", overlap)
	}
	if job.MaxCycles < 0 {
		return "", errors.New("max_cycles is negative")
	}
	disabled := byte('0')
	if job.Schedule.GetDisabled() {
		disabled = '1'
	}
	b := []byte{kind, "lna"[catchup], "asr"[overlap], disabled, '|'}
	b = strconv.AppendInt(b, int64(job.MaxCycles), 10)
	return string(append(append(b, '|'), when...)), nil
}
