package main

import "math/rand/v2"

// dice draws from PCG, whose sequence is fixed by its definition; what math/rand/v2 makes of a source may change
// between releases, so the few distributions needed here are made by hand.
type dice struct{ source *rand.PCG }

func newDice(seed, stream uint64) *dice { return &dice{source: rand.NewPCG(seed, stream)} }

// below returns one of 0..n-1. The bias of the remainder is far below what a few thousand draws can show.
func (d *dice) below(n int) int { return int(d.source.Uint64() % uint64(n)) }

// perMille is true n times in a thousand.
func (d *dice) perMille(n int) bool { return d.below(1000) < n }

// weighted returns an index, each as often as its weight says.
func (d *dice) weighted(weights []int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	at := d.below(sum)
	for i, w := range weights {
		if at < w {
			return i
		}
		at -= w
	}
	return len(weights) - 1
}
