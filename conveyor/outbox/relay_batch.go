package outbox

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// row is one row that a relay has in hand.
type row struct {
	id  int64
	job *wire.Job
}

// letter is a row that becomes a dead letter.
type letter struct {
	id     int64
	uuid   string
	reason string
}

// batch are the rows of one round, and what is known of them.
type batch struct {
	rows  []row // that hold jobs, in the order of their ids
	all   []int64
	asked int // how many rows were wanted
	bytes int
	cut   bool // there are more, which did not fit into memory

	mu      sync.Mutex
	closed  bool
	pushed  []int64
	letters []letter
}

// batchBytes bounds the jobs that a relay has in memory. One that is larger comes alone.
const batchBytes = 16 << 20

// add takes a row into the batch, unless it is full.
func (b *batch) add(id int64, uuid string, bytes []byte) {
	b.all = append(b.all, id)
	if b.cut = b.cut || b.bytes > 0 && b.bytes+len(bytes) > batchBytes; b.cut {
		return // the driver reads the rest of its answer all the same
	}
	b.bytes += len(bytes) + 1
	job, err := decode(uuid, bytes)
	if err != nil {
		b.bury(id, uuid, err)
		return
	}
	b.rows = append(b.rows, row{id, job})
}

// errNoJob means a row that cannot be one of a job.
var errNoJob = errors.New("the row holds no job")

// decode reads a row. The uuid is what makes pushing it again harmless, so it has to be the same wherever it stands.
func decode(uuid string, bytes []byte) (*wire.Job, error) {
	job := &wire.Job{}
	if err := proto.Unmarshal(bytes, job); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoJob, err)
	}
	switch {
	case job.Uuid == "":
		job.Uuid = uuid
	case job.Uuid != uuid:
		return nil, fmt.Errorf("%w: its uuid is %q, and in the job %q", errNoJob, uuid, job.Uuid)
	}
	if uuid == "" {
		return nil, fmt.Errorf("%w: it has no uuid", errNoJob)
	}
	return job, nil
}

// acknowledge notes that the queue has these jobs.
func (b *batch) acknowledge(rows ...row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		for _, row := range rows {
			b.pushed = append(b.pushed, row.id)
		}
	}
}

// maxReason bounds the reason of a dead letter in bytes.
const maxReason = 2000

// bury notes that a row is to be a dead letter.
func (b *batch) bury(id int64, uuid string, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		reason := why.Error()
		if len(reason) > maxReason {
			reason = reason[:maxReason-3] + "..."
		}
		// What a database refuses in a text would keep the whole batch from being settled.
		reason = strings.ReplaceAll(strings.ToValidUTF8(reason, "?"), "\x00", "?")
		b.letters = append(b.letters, letter{id, uuid, reason})
	}
}

// close is what has been decided. What is noted later does not count: those rows were given back, and the queue knows their jobs.
func (b *batch) close() (pushed []int64, letters []letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.pushed, b.letters
}

// full tells whether there may be more rows than were taken.
func (b *batch) full() bool { return b.cut || len(b.all) >= b.asked }

// undecided are the rows that are given back.
func (b *batch) undecided(pushed []int64, letters []letter) []int64 {
	decided := make(map[int64]bool, len(pushed)+len(letters))
	for _, id := range pushed {
		decided[id] = true
	}
	for _, l := range letters {
		decided[l.id] = true
	}
	var rest []int64
	for _, id := range b.all {
		if !decided[id] {
			rest = append(rest, id)
		}
	}
	return rest
}
