package applier

import (
	"fmt"
	"sync"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
)

// TestUpdateAgainstReservation edits jobs that wait while a worker reserves them. Whatever comes first, no attempt runs work that is
// neither the old nor the new one, and what the record says in the end has run: a job that was reserved before its edit runs again
// as another generation, and one that was edited before runs once, with the new work.
func TestUpdateAgainstReservation(t *testing.T) {
	onBoth(t, func(l *lab) {
		const n = 60
		jobs := func(work string) (list []*config.Job) {
			for i := range n {
				list = append(list, l.job(fmt.Sprintf("j[%d]", i), payload(work)))
			}
			return list
		}
		l.declare(jobs(`"old"`)...)
		l.apply()
		l.declare(jobs(`"new"`)...)
		l.run.batch = 7 // so that reservations come between
		plan := l.plan()

		worker := l.another()
		var started []conveyor.Reservation
		var working sync.WaitGroup
		working.Go(func() {
			for range n / 2 {
				worker.number++
				reply, err := worker.Exchange(l.Context(), conveyor.ExchangeRequest{Caller: "rival", Number: worker.number, Lease: 1 << 40, Queues: []string{"q"}, Want: 1})
				if err != nil {
					l.Error(err)
					return
				}
				started = append(started, reply.Reserved...)
			}
		})
		_, err := l.carryOut(l.Context(), plan)
		working.Wait()
		l.ok(err)

		ran := map[string][]string{} // payloads by name
		note := func(list []conveyor.Reservation) {
			for _, r := range list {
				ran[r.Job.Name] = append(ran[r.Job.Name], string(r.Job.Payload))
			}
		}
		note(started)
		l.end(conveyor.VerdictDone, started...)
		for {
			list := l.start(10)
			if len(list) == 0 {
				break
			}
			note(list)
			l.end(conveyor.VerdictDone, list...)
		}
		for i := range n {
			name := fmt.Sprintf("job.j[%d]", i)
			switch got := fmt.Sprint(ran[name]); {
			case got == `["new"]` && l.state().Records[name].Generation == 1:
			case got == `["old" "new"]` && l.state().Records[name].Generation == 2:
			default:
				l.Errorf("%s ran %s in generation %d", name, got, l.state().Records[name].Generation)
			}
		}
		l.noChanges()
	})
}
