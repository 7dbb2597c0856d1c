package conveyor

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// claimPatience is how long a call that may reserve jobs keeps the slots for them from other namespaces while it has no answer: a
// store that hangs holds up nobody else.
const claimPatience = 500 * time.Millisecond

// slots are those of the Workers of a WorkerGroup. A free slot goes to whoever asks while nobody waits. While somebody does, it goes to
// the one that has the fewest, of several to the one that waits longest, and nobody takes more than an equal part: a namespace alone has
// all slots, and one that comes later has its part as soon as attempts of the others end.
type slots struct {
	mu     sync.Mutex
	total  int
	free   int
	turn   int64 // counts those who began to wait
	shares []*share
}

func newSlots(n int) *slots { return &slots{total: n, free: n} }

// share is what one Worker has of the slots. A nil share is that of a Worker by itself, which is not limited by others.
type share struct {
	all  *slots
	hint func() // tells the Worker to ask again

	// Under all.mu.
	used    int   // by attempts, and claimed
	claimed int   // by the call under way
	call    int64 // counts claims
	waiting bool  // it asked in vain, and does nothing but wait for the hint
	since   int64 // its turn, while it waits
	hinted  bool  // while it waits
	left    bool  // its Worker has ended
}

// share makes a part of the slots.
func (s *slots) share(hint func()) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := &share{all: s, hint: hint}
	s.shares = append(s.shares, h)
	return h
}

// claim takes up to n slots for a call that may fill them: settle says how many it did. 0: the caller waits for the hint, until it claims
// again or withdraws.
func (h *share) claim(n int) int {
	if h == nil {
		return n
	}
	s := h.all
	s.mu.Lock()
	defer s.mu.Unlock()
	if !h.waiting {
		s.turn++
		h.since = s.turn
	}
	granted, busy, owed, contended := min(n, s.free), 1, 0, false
	for _, o := range s.shares {
		if o == h {
			continue
		}
		if o.waiting || o.used > 0 {
			busy++
		}
		if o.waiting {
			contended = true
			if o.before(h) {
				owed++
			}
		}
	}
	if contended {
		granted = max(0, min(granted, s.free-owed, max(s.total/busy-h.used, 1)))
	}
	h.waiting, h.hinted = granted == 0, false
	h.take(granted)
	h.claimed = granted
	h.call++
	s.pass()
	return granted
}

// before tells whether a share comes before another for the next slot.
func (h *share) before(o *share) bool {
	return cmp.Or(cmp.Compare(h.used, o.used), cmp.Compare(h.since, o.since)) < 0
}

func (h *share) take(n int) {
	h.used += n
	h.all.free -= n
}

// patient has the claim given up when the call takes longer than claimPatience. It returns how to stop that.
func (h *share) patient() (stop func()) {
	if h == nil {
		return func() {}
	}
	h.all.mu.Lock()
	call := h.call
	h.all.mu.Unlock()
	t := time.AfterFunc(claimPatience, func() { h.lapse(call) })
	return func() { t.Stop() }
}

// lapse gives up the claim of a call, if it is still the latest.
func (h *share) lapse(call int64) {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.call == call {
		h.take(-h.claimed)
		h.claimed = 0
		h.all.pass()
	}
}

// settle ends a claim after its call reserved n jobs, and tells how many of them have slots. That is all, unless the claim was given up.
func (h *share) settle(n int) int {
	if h == nil {
		return n
	}
	s := h.all
	s.mu.Lock()
	defer s.mu.Unlock()
	h.call++
	h.take(-h.claimed)
	h.claimed = 0
	kept := min(n, s.free)
	h.take(kept)
	s.pass()
	return kept
}

// give gives back the slot of an attempt that ended.
func (h *share) give() {
	if h == nil {
		return
	}
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	h.take(-1)
	h.forget()
	h.all.pass()
}

// withdraw ends waiting: no slot is kept for who does something else.
func (h *share) withdraw() {
	if h == nil {
		return
	}
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.waiting {
		h.waiting = false
		h.all.pass()
	}
}

// leave ends the share, when the last of its attempts has ended.
func (h *share) leave() {
	if h == nil {
		return
	}
	h.withdraw()
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	h.left = true
	h.forget()
}

func (h *share) forget() {
	if h.left && h.used == 0 {
		h.all.shares = slices.DeleteFunc(h.all.shares, func(o *share) bool { return o == h })
	}
}

// pass tells the next of those who wait that there is a slot. It asks then, and whoever comes after it is told.
func (s *slots) pass() {
	if s.free == 0 {
		return
	}
	var next *share
	for _, h := range s.shares {
		if h.waiting && (next == nil || h.before(next)) {
			next = h
		}
	}
	if next != nil && !next.hinted {
		next.hinted = true
		next.hint()
	}
}
