package conveyor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestCallsPerScript: adding and running jobs that use nothing but the queue costs as many commands for a hundred jobs as for one.
func TestCallsPerScript(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client(t) // of its own: all its commands are counted
	e := newEngine(t, rdb)
	made := 0
	jobs := func(n int) {
		for range n {
			made++
			e.add(job(fmt.Sprint("warm", made)))
		}
	}
	calls := func(n int) (adding, running int) {
		e.ok(rdb.ConfigResetStat(e.Context()).Err())
		var all []*wire.Job
		for range n {
			made++
			all = append(all, job(fmt.Sprint("j", made)))
		}
		e.add(all...)
		adding = commands(e)
		e.ok(rdb.ConfigResetStat(e.Context()).Err())
		var done []conveyor.Ack
		for _, r := range e.reserve(n) {
			done = append(done, ack(r, conveyor.VerdictDone))
		}
		if len(done) != n {
			e.Fatalf("reserved %d of %d", len(done), n)
		}
		e.exchange(0, done...)
		return adding, commands(e)
	}
	jobs(2)
	for _, r := range e.reserve(2) {
		e.end(r, conveyor.VerdictDone)
	}
	jobs(1) // the queue never runs empty, which would cost a look at what is left in it
	addOne, runOne := calls(1)
	addMany, runMany := calls(100)
	if addMany > addOne {
		e.Errorf("adding one job takes %d commands, a hundred take %d", addOne, addMany)
	}
	if runMany > runOne {
		e.Errorf("running one job takes %d commands, a hundred take %d", runOne, runMany)
	}
}

// commands is how many the server executed, in scripts too, since its statistics were reset.
func commands(e *engine) int {
	e.Helper()
	stats, err := e.rdb.Info(e.Context(), "commandstats").Result()
	e.ok(err)
	total := 0
	for line := range strings.Lines(stats) {
		name, rest, ok := strings.Cut(line, ":calls=")
		if !ok || strings.HasPrefix(name, "cmdstat_config") || name == "cmdstat_info" {
			continue
		}
		var n int
		_, err := fmt.Sscan(strings.SplitN(rest, ",", 2)[0], &n)
		e.ok(err)
		total += n
	}
	return total
}
