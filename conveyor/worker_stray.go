package conveyor

// strays are attempts that the store counts as this worker's and that it does not have: it was told that they ended, and the store has
// lost that since, in a crash or a failover. Every beat would renew their lease, so the worker hands them back. The store's first word
// may be about a reservation whose reply is on its way: what two beats in a row name is taken for one.
type strays struct {
	named map[Holding]bool // by the latest beat
	found []Holding        // to be handed back, unless the worker has them after all
}

// name takes what a beat's answer names, and tells whether anything is to be handed back.
func (s *strays) name(unknown []Holding) bool {
	before := s.named
	s.named, s.found = make(map[Holding]bool, len(unknown)), nil
	for _, h := range unknown {
		s.named[h] = true
		if before[h] {
			s.found = append(s.found, h)
		}
	}
	return len(s.found) > 0
}

// missed takes what a beat's answer names as unknown to the worker.
func (w *Worker) missed(unknown []Holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.strays.name(unknown) {
		hint(w.endedHint)
	}
}

// returnStrays has strays acknowledged as handed back. The loop that exchanges calls it between two calls, when the worker has whatever
// it reserved. A worker that drains leaves them to its leaving.
func (w *Worker) returnStrays() {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.strays.found
	w.strays.found = nil
	if w.draining {
		return
	}
	sent := make(map[Holding]bool, len(w.acks))
	for _, a := range w.acks {
		sent[Holding{a.UUID, a.Fence}] = true
	}
	for _, h := range found {
		if w.held[h] != nil || sent[h] {
			continue
		}
		w.o.Logger.Warn("the store has lost how this attempt ended: the job is handed back", "worker", w.o.ID, "uuid", h.UUID, "fence", h.Fence)
		w.acks = append(w.acks, Ack{UUID: h.UUID, Fence: h.Fence, Verdict: VerdictBack})
	}
}
