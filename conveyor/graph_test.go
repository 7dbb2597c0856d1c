package conveyor_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// drawing is a small graph and what its jobs will do: link[i][j] is the edge by which job i waits for job j < i.
type drawing struct {
	link [][]link
	ends []ending
}

type link uint8

const (
	noLink link = iota
	childOf
	lenientChildOf
	afterSuccess
	afterFailure
	afterAll
	links
)

type ending uint8

const (
	succeeds ending = iota
	fails
	isCancelled // before anything runs
	endings
)

func (d drawing) size() int { return len(d.ends) }

func (d drawing) String() string {
	var b strings.Builder
	for i := range d.size() {
		fmt.Fprintf(&b, " j%d:%s", i, [...]string{"ok", "fail", "cancel"}[d.ends[i]])
		for j, l := range d.link[i] {
			if l != noLink {
				fmt.Fprintf(&b, " %s(j%d)", [...]string{"", "child", "lenient", "success", "failure", "always"}[l], j)
			}
		}
	}
	return b.String()
}

// numbered is the n-th drawing of a size, in an order in which every drawing comes once.
func numbered(size, n int) drawing {
	d := drawing{link: make([][]link, size), ends: make([]ending, size)}
	for i := range size {
		d.ends[i] = ending(n % int(endings))
		n /= int(endings)
		d.link[i] = make([]link, i)
		for j := range i {
			d.link[i][j] = link(n % int(links))
			n /= int(links)
		}
	}
	return d
}

func count(size int) int {
	n := 1
	for i := range size {
		n *= int(endings)
		for range i {
			n *= int(links)
		}
	}
	return n
}

func (l link) parent() bool { return l == childOf || l == lenientChildOf }

// outcome is what becomes of a job, told apart as far as its dependents can tell.
type outcome string

const (
	open          outcome = ""
	completed     outcome = "completed"
	failed        outcome = "failed"
	failedByChild outcome = "failed(child)"
	cancelled     outcome = "cancelled"
	skippedFail   outcome = "skipped"
	skippedOK     outcome = "skipped by success"
)

func (o outcome) success() bool { return o == completed || o == skippedOK }

// expect works out by the rules what becomes of each job, without any engine: own is what each job's own work came to,
// final what it ended as. What stays open can never end.
func (d drawing) expect() (final []outcome) {
	own, final := make([]outcome, d.size()), make([]outcome, d.size())
	for moved := true; moved; {
		moved = false
		for i := range d.size() {
			if own[i] == open {
				own[i] = d.begin(i, own, final)
				moved = moved || own[i] != open
			}
			if own[i] != open && final[i] == open {
				final[i] = d.end(i, own[i], final)
				moved = moved || final[i] != open
			}
		}
	}
	return final
}

// begin decides what job i's own work comes to, open while an edge is not decided.
func (d drawing) begin(i int, own, final []outcome) outcome {
	if d.ends[i] == isCancelled {
		return cancelled
	}
	byFailure, bySuccess := false, false
	for j, l := range d.link[i] {
		up := final[j]
		if l.parent() {
			up = own[j]
		}
		switch {
		case l == noLink || l == afterAll && up != open:
		case up == open:
			return open
		case l.parent() && up != completed:
			byFailure, bySuccess = byFailure || !up.success(), bySuccess || up.success()
		case l == afterSuccess:
			byFailure = byFailure || !up.success()
		case l == afterFailure:
			bySuccess = bySuccess || up.success()
		}
	}
	switch {
	case byFailure:
		return skippedFail
	case bySuccess:
		return skippedOK
	case d.ends[i] == fails:
		return failed
	}
	return completed
}

// end decides how job i ends whose own work came to own: after its children.
func (d drawing) end(i int, own outcome, final []outcome) outcome {
	if own != completed {
		return own
	}
	for k := i + 1; k < d.size(); k++ {
		if l := d.link[k][i]; l.parent() {
			if final[k] == open {
				return open
			}
			if l == childOf && !final[k].success() {
				own = failedByChild
			}
		}
	}
	return own
}

// job is job i as it is added. Every edge is a block of its own.
func (d drawing) job(prefix string, i int) *wire.Job {
	j := job(fmt.Sprintf("%sj%d", prefix, i))
	for up, l := range d.link[i] {
		e := &wire.Edge{Uuid: fmt.Sprintf("%sj%d", prefix, up), Group: int32(up)}
		switch l {
		case noLink:
			continue
		case childOf:
		case lenientChildOf:
			e.IgnoreFailure = true
		default:
			e.Kind, e.RunIf = wire.Edge_PREDECESSOR, wire.Edge_RunIf(l-afterSuccess)
		}
		j.Edges = append(j.Edges, e)
	}
	return j
}

// play submits a drawing in the given order, runs it, and compares.
func (e *engine) play(d drawing, prefix string, order []int) {
	e.Helper()
	for _, i := range order {
		e.add(d.job(prefix, i))
	}
	for i := d.size() - 1; i >= 0; i-- { // dependents first: a job that was skipped before cannot be cancelled
		if d.ends[i] == isCancelled {
			e.ok(e.Cancel(e.Context(), fmt.Sprintf("%sj%d", prefix, i)))
		}
	}
	for {
		rs := e.reserve(10)
		if len(rs) == 0 {
			break
		}
		var done []conveyor.Ack
		for _, r := range rs {
			verdict := conveyor.VerdictDone
			if d.ends[r.Job.Uuid[len(r.Job.Uuid)-1]-'0'] == fails {
				verdict = conveyor.VerdictFailed
			}
			done = append(done, ack(r, verdict))
		}
		e.exchange(0, done...)
	}
	var uuids []string
	for i := range d.size() {
		uuids = append(uuids, fmt.Sprintf("%sj%d", prefix, i))
	}
	got, err := e.Statuses(e.Context(), uuids)
	e.ok(err)
	for i, want := range d.expect() {
		if found := found(got[i]); found != want {
			e.Errorf("submitted as %v:%s: j%d is %q, want %q", order, d, i, found, want)
		}
		if got[i].State.Ended() == (want == open) {
			e.Errorf("%s: j%d is %s", d, i, got[i].State)
		}
	}
	for i := range uuids { // what waits in a circle is taken away
		if !got[i].State.Ended() {
			e.ok(e.Cancel(e.Context(), uuids[i]))
		}
	}
}

// found is a status in the words of this test.
func found(s conveyor.Status) outcome {
	switch {
	case !s.State.Ended():
		return open
	case s.ChildFailed:
		return failedByChild
	case s.Success:
		return skippedOK
	}
	return outcome(s.State.String())
}

func orders(size int) [][]int {
	if size == 1 {
		return [][]int{{0}}
	}
	var out [][]int
	for _, o := range orders(size - 1) {
		for at := range size {
			out = append(out, slices.Insert(slices.Clone(o), at, size-1))
		}
	}
	return out
}

// TestSmallGraphs plays every graph of one and two jobs in every order, and drawn ones of three and four.
func TestSmallGraphs(t *testing.T) {
	onBoth(t, func(e *engine) {
		n := 0
		play := func(d drawing, order []int) {
			n++
			e.play(d, fmt.Sprintf("g%d", n), order)
		}
		for size := 1; size <= 2; size++ {
			for i := range count(size) {
				for _, order := range orders(size) {
					play(numbered(size, i), order)
				}
			}
		}
		seed := rand.Uint64()
		if os.Getenv(envStore) != "" {
			seed = 1 // the tests of mutants must find the same each time
		}
		e.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for range 150 {
			for _, size := range []int{3, 4} {
				all := orders(size)
				play(numbered(size, random.IntN(count(size))), all[random.IntN(len(all))])
			}
		}
	})
}

// TestGraphsOfThree plays every graph of three jobs when -long asks for it, and otherwise one in seventeen.
func TestGraphsOfThree(t *testing.T) {
	t.Parallel()
	e := newEngine(t, redistest.Shared(t).Client(t))
	all, step := orders(3), 17
	if *long {
		step = 1
	}
	for i := 0; i < count(3); i += step {
		e.play(numbered(3, i), fmt.Sprintf("g%d", i), all[i%len(all)])
	}
	e.sound()
}
