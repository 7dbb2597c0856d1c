package board_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/internal/script"
)

// chains follows n jobs that mostly stand one below the other, and are mostly done.
func chains(t testing.TB, r *rand.Rand, n int) *board.Board {
	t.Helper()
	jobs := make([]applier.Followed, n)
	for i := range jobs {
		s := conveyor.Status{State: conveyor.StateCompleted}
		if r.IntN(5) == 0 {
			s = someStatus(r)
		}
		jobs[i] = script.Followed(script.Addr(t, fmt.Sprintf("job.j[%d]", i)), 0, s)
		if i > 0 && r.IntN(8) > 0 {
			jobs[i].Above = []int32{int32(i - 1)}
		}
	}
	b := board.New()
	b.Observe(applier.Following{Jobs: jobs})
	return b
}

// forest follows n jobs, each under some earlier ones or none, in random states.
func forest(t testing.TB, r *rand.Rand, n int) *board.Board {
	t.Helper()
	jobs := make([]applier.Followed, n)
	for i := range jobs {
		jobs[i] = script.Followed(script.Addr(t, fmt.Sprintf("job.j[%d]", i)), 0, someStatus(r))
		for range r.IntN(3) {
			if i > 0 {
				jobs[i].Above = append(jobs[i].Above, int32(r.IntN(i)>>r.IntN(4)))
			}
		}
	}
	b := board.New()
	b.Observe(applier.Following{Jobs: jobs})
	return b
}

func someStatus(r *rand.Rand) conveyor.Status {
	return conveyor.Status{State: conveyor.State(r.IntN(int(conveyor.StateExpired) + 1)), Attempts: r.IntN(2)}
}

// TestTreeAgreesWithItself changes jobs of random trees, opens and closes, and compares each time with a tree that is
// made anew, every window with the whole, and every line with the place it is said to have.
func TestTreeAgreesWithItself(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			make := forest
			if seed%2 == 1 {
				make = chains
			}
			b := make(t, r, 1+r.IntN(120))
			tree := board.NewTree(b, seed%5 > 0, nil)
			for range 60 {
				rows := tree.Rows(0, tree.Lines())
				switch r.IntN(6) {
				case 0:
					tree.Toggle(rows[r.IntN(len(rows))].Ref)
				case 1:
					tree.Close(rows[r.IntN(len(rows))].Ref)
				case 2:
					tree.Open(rows[r.IntN(len(rows))].Ref)
				case 3:
					place := r.IntN(len(b.Jobs))
					tree.Reveal(place)
					if want := (board.Ref{Place: place}); tree.Kind(place) == board.Unsuccessful && tree.Seen(want) != want {
						t.Fatalf("job %d is hidden by %v after it was revealed", place, tree.Seen(want))
					}
				default:
					j := b.Jobs[r.IntN(len(b.Jobs))]
					s := someStatus(r)
					s.UUID = j.Status.UUID
					e := applier.JobChanged{Addr: j.Addr, Status: s}
					if s.State == conveyor.StateFailed {
						e.Failure, e.LogTail = "exit status 1", []string{"a", "b"}
					}
					for _, step := range b.Observe(e) {
						tree.Changed(step.Job)
					}
				}
				checkTree(t, b, tree)
			}
		})
	}
}

func checkTree(t *testing.T, b *board.Board, tree *board.Tree) {
	t.Helper()
	all := tree.Rows(0, tree.Lines()+10)
	if len(all) != tree.Lines() {
		t.Fatalf("%d rows, Lines says %d", len(all), tree.Lines())
	}
	if diff := cmp.Diff(board.NewTree(b, tree.Folded(), tree).Rows(0, len(all)+10), all); diff != "" {
		t.Fatalf("the tree differs from one made anew (-want +got):\n%s", diff)
	}
	stands := 0
	for line, row := range all {
		if row.Detail > 0 {
			continue
		}
		if tree.Seen(row.Ref) != row.Ref || tree.Line(row.Ref) != line {
			t.Fatalf("%v stands on line %d, Line says %d and Seen %v", row.Ref, line, tree.Line(row.Ref), tree.Seen(row.Ref))
		}
		if got := tree.Rows(line, 3); !slices.Equal(got, all[line:min(line+3, len(all))]) {
			t.Fatalf("rows from %d are %v, in the whole %v", line, got, all[line:])
		}
		switch {
		case row.Part == board.PartWhole:
			stands += 1 + row.Passed
			if row.Shut {
				below := tree.Sums(row.Place)
				stands += below.Jobs() - 1
			}
		case !row.Open:
			hidden := tree.Hidden(row.Ref)
			stands += hidden.Jobs()
		}
	}
	if stands != len(b.Jobs) {
		t.Fatalf("%d jobs are shown or counted, of %d", stands, len(b.Jobs))
	}
	sums := tree.Sums(-1)
	if sums.Jobs() != len(b.Jobs) {
		t.Fatalf("the root counts %d jobs, of %d", sums.Jobs(), len(b.Jobs))
	}
}

// TestTreeOfAChain shows a chain in the middle: the last job that is done, the one that runs, and what is ahead.
func TestTreeOfAChain(t *testing.T) {
	t.Parallel()
	jobs := make([]applier.Followed, 10)
	for i := range jobs {
		s := conveyor.Status{State: conveyor.StateCompleted}
		switch {
		case i == 5:
			s = script.Running(1, script.Noon)
		case i > 5:
			s = conveyor.Status{State: conveyor.StateHeld}
		}
		jobs[i] = script.Followed(script.Addr(t, fmt.Sprintf("job.j[%d]", i)), i, s)
		if i > 0 {
			jobs[i].Above = []int32{int32(i - 1)}
		}
	}
	b := board.New()
	b.Observe(applier.Following{Jobs: jobs})
	tree := board.NewTree(b, true, nil)
	want := []board.Row{
		{Ref: board.Ref{Place: 4}, Kids: true, Passed: 4},
		{Ref: board.Ref{Place: 5}, Depth: 1, Kids: true},
		{Ref: board.Ref{Place: 5, Part: board.PartAhead}, Depth: 2},
	}
	if diff := cmp.Diff(want, tree.Rows(0, 10)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	checkTree(t, b, tree)
	if got := tree.Seen(board.Ref{Place: 1}); got != want[0].Ref {
		t.Errorf("a job of the chain is seen at %v", got)
	}
}
