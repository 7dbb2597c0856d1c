package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// The job that confirms an order. Its payload is the order's number.
const (
	mailQueue   = "mail"
	confirmType = "confirm"
)

// shop takes orders and confirms them.
type shop struct {
	database *database
	client   *conveyor.Client
	out      io.Writer // what the shop tells of itself
	unplug   func()    // ends the process between a commit and its push
	relay    outbox.RelayOptions
}

// order is a row of the table orders.
type order struct {
	Number    int64
	Customer  string
	Item      string
	Placed    time.Time
	Confirmed time.Time // zero until the job has run
}

// place writes an order together with the job that confirms it. The order stands once place returns no error, whatever
// happens to the queue, to this process or to both.
func (s *shop) place(ctx context.Context, o order, unplug bool) (number int64, err error) {
	tx, err := s.database.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	number, err = s.database.insert(ctx, tx, o)
	if err != nil {
		return 0, err
	}

	// The number is known and the job can be made. It is not pushed yet: the order could still be rolled back.
	jobs := outbox.NewScheduler(s.database.outbox)
	if err := jobs.AddJob(&wire.Job{Type: confirmType, Queue: mailQueue, Name: fmt.Sprintf("order %d", number)}, number); err != nil {
		return 0, err
	}
	if err := jobs.CreatePendingJobs(ctx, tx); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}

	fmt.Fprintf(s.out, "order %d is placed: %s for %s\n", number, o.Item, o.Customer)
	if unplug {
		s.unplug()
	}
	if err := jobs.PushJobsWithClientAndDeletePendingJobs(ctx, s.client, s.database); err != nil {
		fmt.Fprintf(s.out, "order %d is left to the relay: %v\n", number, err) // the customer need not know
	}
	return number, nil
}

// confirm is the handler of the job. A job may run twice, when a worker dies at its end, so it asks whether there is anything to do.
func (s *shop) confirm(ctx context.Context, number int64) error {
	o, err := s.database.find(ctx, number)
	if err != nil {
		return err // never because the order is not there yet: the job was committed with it
	}
	if !o.Confirmed.IsZero() {
		return nil
	}
	o.Confirmed = time.Now()
	if err := s.database.setConfirmed(ctx, o); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "order %d is confirmed after %s\n", number, o.Confirmed.Sub(o.Placed).Round(time.Millisecond))
	return nil
}
