package applier

import (
	"bytes"
	"fmt"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// readings names in a payload the submissions whose results it reads, in place of their addresses, and lists them. The addresses
// stay with them as names, for messages. Digests are made over addresses, as with uuids.
func (b *jobBuilder) readings(payload []byte, results []config.Result) (filled []byte, uuids []string, err error) {
	if len(results) == 0 {
		return payload, nil, nil
	}
	by := make(map[string]string, len(results))
	for _, r := range results {
		id, ok := b.uuids(r.Job)
		if !ok {
			return nil, nil, fmt.Errorf("it reads the result of %s, which has no submission; include that job in the apply", r.Job)
		}
		by[r.Job.String()] = id
		uuids = append(uuids, id)
	}
	filled = config.FillReadings(payload, func(r config.Reading) string {
		id := by[r.Address]
		if id == "" {
			return "" // text that only looks like one
		}
		return conveyor.Reading{UUID: id, Name: r.Address, Path: r.Path, Form: r.Form}.String()
	})
	return filled, uuids, nil
}

// readingRoom is what the uuids of readings may add to a payload, in bytes.
func readingRoom(j *config.Job) int {
	if len(j.Results) == 0 {
		return 0
	}
	return bytes.Count(j.Payload, []byte("@{result:")) * 48
}
