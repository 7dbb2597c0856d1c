package conveyor

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// OccurrenceUUID is the uuid of the occurrence that a template has in the cycle of a root and a tick: the same whoever emits it and
// however often. Of a root, template and root are one. It has the shape of a uuid of version 5.
func OccurrenceUUID(template, root string, tick time.Time) string {
	return uuidFrom(template + "@" + root + "@" + strconv.FormatInt(tick.UnixMilli(), 10))
}

// uuidFrom is a uuid that follows from a text. Scripts make the same one.
func uuidFrom(text string) string {
	sum := sha1.Sum([]byte(text))
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// OccurrenceName is how people see an occurrence: the name of its template and the tick of its cycle, "nightly@2026-11-21T01:00:00Z".
func OccurrenceName(name string, tick time.Time) string { return name + "@" + tickText(tick) }

// tickText is a tick in RFC 3339 and UTC, with milliseconds only if there are any.
func tickText(tick time.Time) string { return tick.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// TickOf is the tick of the cycle that an occurrence belongs to, in UTC; false for other jobs.
func TickOf(job *wire.Job) (time.Time, bool) {
	ms, err := strconv.ParseInt(job.GetTick(), 10, 64)
	if job.GetTemplateUuid() == "" || err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

// mapOccurrence makes of the bytes of an occurrence, which are those of its template, a job of its own: its edges to templates are
// to their occurrences of the same cycle.
func (c *Client) mapOccurrence(ctx context.Context, job *wire.Job, s Status) error {
	if s.Template == "" {
		return nil
	}
	var uuids []string
	for _, e := range job.Edges {
		uuids = append(uuids, OccurrenceUUID(e.Uuid, s.Root, s.Tick))
	}
	found, err := c.Statuses(ctx, uuids)
	if err != nil {
		return err
	}
	for i, up := range found {
		if up.State != StateUnknown {
			job.Edges[i].Uuid, job.Edges[i].Opening = up.UUID, up.Opening
		}
	}
	job.ParentUuid, job.PredecessorUuid = "", ""
	job.Schedule, job.Gate, job.Template = nil, nil, false
	return nil
}
