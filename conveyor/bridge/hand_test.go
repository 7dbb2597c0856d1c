package bridge

import (
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// TestResultsAreFilledIn hands over a payload with the values that it reads of another job, and fails a job whose values are missing.
func TestResultsAreFilledIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(job("a"))
	reply, err := r.client.Exchange(r.ctx, conveyor.ExchangeRequest{Caller: "test", Number: 1, Lease: conveyor.DefaultReserveFor, Queues: []string{queue}, Want: 1})
	if err != nil || len(reply.Reserved) != 1 {
		t.Fatal(reply, err)
	}
	done := conveyor.Ack{UUID: "a", Fence: reply.Reserved[0].Fence, Result: []byte(`{"rows":3}`)}
	if _, err := r.client.Exchange(r.ctx, conveyor.ExchangeRequest{Caller: "test", Number: 2, Done: []conveyor.Ack{done}}); err != nil {
		t.Fatal(err)
	}
	fits, misfit := job("fits"), job("misfit")
	fits.Payload, fits.Results = []byte(`{"n":"`+conveyor.ResultValue("a", "rows")+`"}`), []string{"a"}
	misfit.Payload, misfit.Results = []byte(`{"n":"`+conveyor.ResultValue("a", "columns")+`"}`), []string{"a"}
	r.add(fits, misfit)
	var got string
	r.plan = func(job *wire.Job, _ int) error { got = string(job.GetPayload()); return nil }
	b := r.bridge("1")
	r.round(b)
	r.work(r.worker("theirs"))
	r.hear(b)
	r.round(b)
	r.wantStates("fits completed misfit failed", "fits", "misfit")
	if got != `{"n":3}` {
		t.Errorf("the fleet got %s", got)
	}
	r.verify()
}

// TestSealedWithoutKey gives a job back whose payload this bridge cannot open.
func TestSealedWithoutKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sealed := job("a")
	sealed.SealKey = "5b1f9c02"
	r.add(sealed)
	r.round(r.bridge("1"))
	r.wantStates("a scheduled", "a")
	if n := r.rdb.LLen(r.ctx, conveyorstand.Queue(queue)).Val(); n != 0 {
		t.Errorf("%d entries in the fleet's queue, want none", n)
	}
	if s := r.status("a"); s.Attempts != 0 {
		t.Errorf("%d attempts were spent", s.Attempts)
	}
	r.verify()
}

// TestOlderAttemptIsRefused keeps what a bridge that was away for long reserved before from the fleet.
func TestOlderAttemptIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(job("a"))
	b := r.bridge("1")
	r.round(b)
	old := conveyor.Reservation{Job: job("a"), Fence: 0}
	if ack, err := b.hand(r.ctx, old); ack != nil || err != nil {
		t.Fatal(ack, err)
	}
	if n := r.rdb.LLen(r.ctx, conveyorstand.Queue(queue)).Val(); n != 1 {
		t.Errorf("%d entries in the fleet's queue, want 1", n)
	}
}
