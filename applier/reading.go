package applier

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// readings names in a payload the submissions whose results it reads, in place of their addresses, and lists them. The addresses
// stay with them as names, for messages. Digests are made over addresses, as with uuids. Secrets stay names: only the worker reads them.
func (b *jobBuilder) readings(payload []byte, j *config.Job) (filled []byte, uuids []string, err error) {
	if len(j.Results)+len(j.Secrets) == 0 {
		return payload, nil, nil
	}
	by := make(map[string]string, len(j.Results))
	for _, r := range j.Results {
		id, ok := b.uuids(r.Job)
		if !ok {
			return nil, nil, fmt.Errorf("it reads the result of %s, which has no submission; include that job in the apply", r.Job)
		}
		by[r.Job.String()] = id
		uuids = append(uuids, id)
	}
	filled = config.FillReadings(payload, func(r config.Reading) string {
		if slices.Contains(j.Secrets, r.Secret) {
			return conveyor.Reading{Secret: r.Secret, Form: r.Form}.String()
		}
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
	if len(j.Results)+len(j.Secrets) == 0 {
		return 0
	}
	return bytes.Count(j.Payload, []byte("@{result:")) * 48
}
