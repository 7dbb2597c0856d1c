//go:build unix

package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

// lastStep is the number of steps of the pattern: begin, the entity, the jobs, their pending rows, commit, see that it is
// committed, push, see that all are pushed, delete.
const lastStep = 9

// thing is the entity of the process that ends after the step, and jobsOf are the uuids of the jobs about it.
func thing(step int) string { return fmt.Sprintf("thing-%d", step) }
func jobsOf(step int) [2]string {
	return [2]string{thing(step) + "-process", thing(step) + "-announce"}
}

// takeSteps goes through the nine steps and dies after one of them.
func takeSteps(ctx context.Context, r role, _ io.Writer) error {
	done := func(step int) {
		if step == r.Step {
			die()
		}
	}
	table, c, db, closeAll, err := r.open()
	if err != nil {
		return err
	}
	defer closeAll()
	done(0)

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	done(1)
	if _, err := tx.ExecContext(ctx, "INSERT INTO things (name, processed, announced) VALUES ('"+thing(r.Step)+"', 0, 0)"); err != nil {
		return err
	}
	done(2)
	scheduler, uuids := outbox.NewScheduler(table), jobsOf(r.Step)
	err = scheduler.AddJobs([]*wire.Job{{Uuid: uuids[0], Type: "process", Queue: "q"}, {Uuid: uuids[1], Type: "announce", Queue: "q"}}, thing(r.Step))
	if err != nil {
		return err
	}
	done(3)
	if err := scheduler.CreatePendingJobs(ctx, tx); err != nil {
		return err
	}
	done(4)
	err = tx.Commit()
	done(5)
	if err != nil {
		return err
	}
	done(6)
	err = scheduler.PushJobsWithClient(ctx, c)
	done(7)
	if err != nil {
		return err
	}
	done(8)
	if err := scheduler.DeletePendingJobs(ctx, db); err != nil {
		return err
	}
	done(lastStep)
	return errors.New("it went through all steps")
}

// TestKilledAfterEachStep kills a process after each of the nine steps, and before the first. Then a relay and a worker begin. A
// thing that was committed has each of its jobs run once, and sees the thing; one that was not has left nothing anywhere.
func TestKilledAfterEachStep(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, db *sqltest.Database, table outbox.Table) {
		execute(t, db, "CREATE TABLE things (name VARCHAR(20) PRIMARY KEY, processed INTEGER NOT NULL, announced INTEGER NOT NULL)")
		s := newStore(t)
		for step := range lastStep + 1 {
			r := roleOn(db, s, "steps")
			r.Step = step
			var ended *exec.ExitError
			if err := begin(t, r).wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the process that dies after step %d ended with %v", step, err)
			}
		}
		ran := runJobs(s, db)
		drain(t, db, table, s)

		const committed = 5 // the step
		var kept, lost []string
		for step := range lastStep + 1 {
			uuids := jobsOf(step)
			if step >= committed {
				kept = append(kept, uuids[:]...)
			} else {
				lost = append(lost, uuids[:]...)
			}
		}
		statuses, err := s.Wait(t.Context(), kept...)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		for _, st := range statuses {
			want[st.UUID] = 1
			if st.State != conveyor.StateCompleted || st.Attempts != 0 || st.Lost != 0 {
				t.Errorf("job %+v, want it completed by its only attempt", st)
			}
		}
		if diff := cmp.Diff(want, ran()); diff != "" {
			t.Errorf("how often jobs ran (-want +got):\n%s", diff)
		}
		statuses, err = s.Statuses(t.Context(), lost)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range statuses {
			if st.State != conveyor.StateUnknown {
				t.Errorf("job %+v of a thing that was never committed", st)
			}
		}
		wantThings := []string{}
		for step := committed; step <= lastStep; step++ {
			wantThings = append(wantThings, thing(step)+" 1 1")
		}
		if diff := cmp.Diff(wantThings, things(t, db)); diff != "" {
			t.Errorf("things, how often processed and announced (-want +got):\n%s", diff)
		}
		s.sound()
	})
}

// runJobs runs a worker of the things' jobs until the test ends, and tells how often each ran. A job fails whose thing is not there.
func runJobs(s *store, db *sqltest.Database) (ran func() map[string]int) {
	s.tb.Helper()
	w, err := conveyor.NewWorker(s.Client, conveyor.WorkerOptions{Queues: []conveyor.QueueShare{{Name: "q"}}})
	if err != nil {
		s.tb.Fatal(err)
	}
	var mu sync.Mutex
	runs := map[string]int{}
	for typ, column := range map[string]string{"process": "processed", "announce": "announced"} {
		w.HandleRaw(typ, func(ctx context.Context, j *wire.Job) error {
			mu.Lock()
			runs[j.GetUuid()]++
			mu.Unlock()
			var name string
			if err := json.Unmarshal(j.GetPayload(), &name); err != nil {
				return err
			}
			result, err := db.ExecContext(ctx, fmt.Sprintf("UPDATE things SET %s = %s + 1 WHERE name = '%s'", column, column, name))
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil || n != 1 {
				return fmt.Errorf("%d things named %s: %w", n, name, err)
			}
			return nil
		})
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(s.tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	s.tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.tb.Error(err)
		}
	})
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return runs
	}
}

// things reads the things with their counts.
func things(t *testing.T, db *sqltest.Database) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT name, processed, announced FROM things ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	out := []string{}
	for rows.Next() {
		var name string
		var processed, announced int
		if err := rows.Scan(&name, &processed, &announced); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(name, " ", processed, " ", announced))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
