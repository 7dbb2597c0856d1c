package conveyor_test

import (
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
)

func TestSmoke(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("a"), job("b"), job("c", under("a")), job("d", after(0, "a")))
		e.states("a queued, b queued, c held, d held")
		rs := e.reserves("a", "b")
		e.end(rs[0], conveyor.VerdictDone)
		e.states("a closing, b running, c queued, d held")
		e.run("c", conveyor.VerdictDone)
		e.states("a completed, b running, c completed, d queued")
		e.end(rs[1], conveyor.VerdictRetry)
		e.run("d", conveyor.VerdictFailed)
		e.run("b", conveyor.VerdictDone)
		e.states("a completed, b completed, c completed, d failed")
	})
}
