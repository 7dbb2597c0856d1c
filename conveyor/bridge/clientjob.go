package bridge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// fleetRetryAfter is the time from a failed run to the next in a fleet.
const fleetRetryAfter = 2 * time.Second

// clientJob is what the fleet's store remembers of a job that a client of theirs enqueued and that is ours now. Its record begins when
// the entry leaves their queue and goes when the job is closed on their side.
type clientJob struct {
	uuid  string
	bytes string // as enqueued
	from  string // the key that the entry was taken out of
	due   string // its score among the scheduled ones, in epoch seconds; empty elsewhere
	asked bool   // the engine did not know it
	added bool   // the engine has it
}

// clientFields are the fields of the record, in the order of clientJobOf.
var clientFields = []string{"bytes", "from", "due", "asked", "added"}

// clientJobOf reads a record; nil: there is none.
func clientJobOf(uuid string, fields []any) *clientJob {
	f := make([]string, len(clientFields))
	for i := range f {
		f[i], _ = fields[i].(string)
	}
	if f[0] == "" {
		return nil
	}
	return &clientJob{uuid: uuid, bytes: f[0], from: f[1], due: f[2], asked: f[3] != "", added: f[4] != ""}
}

// ourForm is the job as the engine gets it: what the fleet knows of a job, and the edge that its entry's place stood for.
// An entry of a queue has none: on their side it was ready to run. The executions that are left are carried over, with their delay.
func (c *clientJob) ourForm() (*wire.Job, error) {
	theirs := &wire.Job{}
	if err := proto.Unmarshal([]byte(c.bytes), theirs); err != nil {
		return nil, fmt.Errorf("it is no job: %w", err)
	}
	job := &wire.Job{
		Uuid: theirs.GetUuid(), Type: theirs.GetType(), Queue: theirs.GetQueue(), Payload: theirs.GetPayload(), RunAt: theirs.GetRunAt(),
		Priority: theirs.Priority,
		RetryPolicy: &wire.RetryPolicy{MaxAttempts: proto.Int32(max(theirs.GetMaxRetries()-theirs.GetRetry(), 1)),
			Backoff: wire.RetryPolicy_CONSTANT, Min: durationpb.New(fleetRetryAfter), Jitter: proto.Float64(0)},
	}
	if queue, ok := strings.CutPrefix(c.from, theirQueue("")); ok {
		job.Queue = queue
	} else if upstream, ok := strings.CutSuffix(strings.TrimPrefix(c.from, theirJob("")), ":children"); ok {
		job.Edges = []*wire.Edge{{Kind: wire.Edge_PARENT, Uuid: upstream}}
	} else if upstream, ok := strings.CutSuffix(strings.TrimPrefix(c.from, theirJob("")), ":onComplete"); ok {
		job.Edges = []*wire.Edge{{Kind: wire.Edge_PREDECESSOR, Uuid: upstream}}
	}
	if job.Type == "" {
		job.Type = job.Queue
	}
	if c.due != "" {
		seconds, err := strconv.ParseFloat(c.due, 64)
		if err != nil || math.Abs(seconds) > 1e11 {
			return nil, fmt.Errorf("its time %s is no time in epoch seconds", c.due)
		}
		job.RunAt = timestamppb.New(time.UnixMilli(int64(math.Ceil(seconds * 1000))))
	}
	return job, conveyor.Check(job)
}
