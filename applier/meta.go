package applier

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor"
)

// stateFormat is the format of a workflow's keys that this version writes. A higher one was written by a later version,
// whose records may mean something else: it is not read at all.
const stateFormat = 1

// The fields of a workflow's meta hash. Each value is a version, a space and the data, as companion writes are.
const (
	metaFormat  = "format"  // stateFormat of the writer
	metaLineage = "lineage" // uuid, written once and never again
	metaFloor   = "floor"   // the highest generation ever given up
	metaSerial  = "serial"  // rises with every batch, so that a follower sees that state changed
	metaTold    = "told"    // the number of the first event that the latest apply which wrote something may have caused
	metaQueues  = "queues"  // JSON list of the queues whose settings belong to this workflow
	metaFormer  = "former"  // the name that the workflow had before, if it was carried over from there
	metaOutput  = "output:" // followed by a name: the output's canonical JSON, or a sealed one
)

// meta is a decoded meta hash.
type meta struct {
	lineage uuid.UUID
	floor   int64
	serial  int64
	told    int64 // 0: not known
	former  string
	queues  []string
	outputs map[string]string // as stored
}

// parseMeta reads the fields of a meta hash; none is a workflow that was never applied.
func parseMeta(key string, fields map[string]string) (meta, error) {
	m := meta{outputs: map[string]string{}}
	if len(fields) == 0 {
		return m, nil
	}
	format, err := metaNumber(key, metaFormat, fields[metaFormat])
	if err != nil {
		return m, err
	}
	if format > stateFormat {
		return m, fmt.Errorf("the state under %q has format %d, and this version reads up to %d: it was written by a later Waybill, "+
			"which has to be installed here", key, format, stateFormat)
	}
	for field, value := range fields {
		switch {
		case field == metaLineage:
			if m.lineage, err = uuid.Parse(unversioned(value)); err != nil {
				return m, foreign(key, field, err)
			}
		case field == metaFloor:
			m.floor, err = metaNumber(key, field, value)
		case field == metaSerial:
			m.serial, err = metaNumber(key, field, value)
		case field == metaTold:
			m.told, err = metaNumber(key, field, value)
		case field == metaFormer:
			m.former = unversioned(value)
		case field == metaQueues:
			if err = json.Unmarshal([]byte(unversioned(value)), &m.queues); err != nil {
				return m, foreign(key, field, err)
			}
		case strings.HasPrefix(field, metaOutput):
			m.outputs[strings.TrimPrefix(field, metaOutput)] = unversioned(value)
		}
		if err != nil {
			return m, err
		}
	}
	if m.lineage == uuid.Nil {
		return m, foreign(key, metaLineage, fmt.Errorf("it is missing"))
	}
	return m, nil
}

func metaNumber(key, field, value string) (int64, error) {
	n, err := strconv.ParseInt(unversioned(value), 10, 64)
	if err != nil {
		return 0, foreign(key, field, err)
	}
	return n, nil
}

// unversioned is what follows the version.
func unversioned(value string) string {
	_, data, _ := strings.Cut(value, " ")
	return data
}

func foreign(key, field string, cause error) error {
	return fmt.Errorf("%w: field %q of %q is not what Waybill writes (%w); nothing was changed. "+
		"Restore the key from a backup, or use another namespace", conveyor.ErrCorrupt, field, key, cause)
}

// metaWrite is a companion write of one field, whatever it holds now.
func metaWrite(workflow, field, data string) conveyor.Attach {
	return conveyor.Attach{Key: metaKey(workflow), Field: field, Version: -1, Value: []byte("1 " + data)}
}

func metaRemove(workflow, field string) conveyor.Attach {
	return conveyor.Attach{Key: metaKey(workflow), Field: field, Version: -1}
}

// queueList is the stored form of a list of queues.
func queueList(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	data, _ := json.Marshal(names) // strings always marshal
	return string(data)
}
