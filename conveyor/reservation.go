package conveyor

import (
	"context"
	"math/rand/v2"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// FailedAck is how a worker acknowledges that an attempt ended with err, by the job's own policy: a retry after its backoff, or its end.
// It is for who reserves with Exchange and runs jobs elsewhere. Of the reservation it needs Job, Fence and Attempts.
func (r Reservation) FailedAck(err error) Ack {
	a := &Attempt{job: r.Job, fence: r.Fence, failed: r.Attempts}
	return a.verdict(context.Background(), err, rand.Float64)
}

// FillResults puts the values that a job reads of other jobs' results into its payload, as a worker does before it calls a handler; it
// gives no secrets. ErrUnavailable means to ask again; any other error is for FailedAck.
func (c *Client) FillResults(ctx context.Context, job *wire.Job) error {
	list, err := readings(job.GetPayload(), job.GetResults(), nil)
	if err != nil || len(list) == 0 {
		return Permanent(err)
	}
	return (&Worker{engine: c}).fillOnce(ctx, job, list, nil)
}
