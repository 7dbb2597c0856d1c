package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
)

// faultKind is something bad that happens.
type faultKind string

// The faults.
const (
	killWorker    faultKind = "kill worker"
	pauseWorker   faultKind = "pause worker"
	stopWorker    faultKind = "stop worker"
	killApplier   faultKind = "kill applier"
	pauseApplier  faultKind = "pause applier"
	killStore     faultKind = "kill store"
	pauseStore    faultKind = "pause store"
	powerCut      faultKind = "power failure"
	failover      faultKind = "failover"
	cut           faultKind = "cut connections"
	delay         faultKind = "delay packets"
	loseRequests  faultKind = "lose requests"
	loseReplies   faultKind = "lose replies"
	partition     faultKind = "partition worker"
	clockStep     faultKind = "step the clock"
	scriptFlush   faultKind = "flush scripts"
	memoryLimit   faultKind = "memory limit"
	killHost      faultKind = "kill host"
	pauseHost     faultKind = "pause host"
	killEverybody faultKind = "kill everybody"
)

// faultKinds are those that a store can meet. What needs a network or a server is not for the embedded one.
func faultKinds(d rig.Durability) []faultKind {
	kinds := []faultKind{killWorker, pauseWorker, stopWorker, killApplier, pauseApplier}
	if d == rig.Journal {
		return append(kinds, killHost, pauseHost, killEverybody, powerCut)
	}
	kinds = append(kinds, pauseStore, cut, delay, loseRequests, loseReplies, partition, clockStep, scriptFlush, memoryLimit)
	switch d {
	case rig.Replica:
		return append(kinds, failover)
	case rig.EverySec:
		return append(kinds, killStore, powerCut)
	}
	return append(kinds, killStore)
}

// fault is one of a schedule.
type fault struct {
	At   time.Duration // after the start
	Kind faultKind
	Pick int           // which process, by its number modulo how many there are
	For  time.Duration // how long it lasts, of those that last
}

func (f fault) String() string {
	text := fmt.Sprintf("%6.1fs  %s", f.At.Seconds(), f.Kind)
	if f.For > 0 {
		text += fmt.Sprintf(" for %.1fs", f.For.Seconds())
	}
	return text
}

// lasts are the shortest and the longest time that a fault lasts. Workers are paused past their leases of six seconds, appliers past
// their locks of five; a store is away for less and for longer than a lease.
var lasts = map[faultKind][2]time.Duration{
	killStore:    {0, 3 * time.Second},
	powerCut:     {0, 3 * time.Second},
	pauseStore:   {time.Second, 9 * time.Second},
	pauseHost:    {time.Second, 9 * time.Second},
	pauseWorker:  {7 * time.Second, 11 * time.Second},
	pauseApplier: {6 * time.Second, 9 * time.Second},
	partition:    {3 * time.Second, 10 * time.Second},
	delay:        {2 * time.Second, 5 * time.Second},
	memoryLimit:  {time.Second, 4 * time.Second},
}

// schedule draws the faults of a soak. Each kind comes once before one comes again.
func schedule(seed uint64, duration, every time.Duration, kinds []faultKind) []fault {
	r := rand.New(rand.NewPCG(seed, 0xfa17))
	var out []fault
	var bag []faultKind
	for at := every; at < duration; at += every/2 + time.Duration(r.Int64N(int64(every)+1)) {
		if len(bag) == 0 {
			bag = slices.Clone(kinds)
			r.Shuffle(len(bag), func(i, k int) { bag[i], bag[k] = bag[k], bag[i] })
		}
		f := fault{At: at, Kind: bag[0], Pick: r.IntN(1 << 16)}
		bag = bag[1:]
		if span := lasts[f.Kind]; span[1] > 0 {
			f.For = span[0] + time.Duration(r.Int64N(int64(span[1]-span[0])+1)).Truncate(100*time.Millisecond)
		}
		out = append(out, f)
	}
	return out
}
