package conveyor

import (
	"errors"
	"fmt"
	"time"
)

// Capacity is how many attempts run at a time, of all namespaces together.
func (g *WorkerGroup) Capacity() int { return g.o.Concurrency }

// Stats tells what the group does now, by namespace. The capacity there is what a namespace has while the others have no jobs.
func (g *WorkerGroup) Stats() map[string]WorkerStats {
	stats := make(map[string]WorkerStats, len(g.members))
	for namespace, m := range g.members {
		w, _ := m.state()
		stats[namespace] = w.Stats()
	}
	return stats
}

// state is the Worker of a namespace, and why it does not run.
func (m *groupMember) state() (*Worker, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.worker, m.failed
}

// Live tells why the group has to be taken for dead: none of its namespaces has a Worker that is Live. That one of them fails is no reason
// to end the others: see Troubles.
func (g *WorkerGroup) Live(within time.Duration) error {
	return g.any(func(w *Worker) error { return w.Live(within) })
}

// Ready tells why the group takes no jobs, of any namespace.
func (g *WorkerGroup) Ready(within time.Duration) error {
	return g.any(func(w *Worker) error { return w.Ready(within) })
}

// any is nil when a Worker is well, else what is wrong with all of them.
func (g *WorkerGroup) any(judge func(*Worker) error) error {
	troubles := g.troubles(judge)
	if len(troubles) < len(g.members) {
		return nil
	}
	return errors.Join(troubles...)
}

// Troubles are the namespaces that take no jobs, each with the reason, by name.
func (g *WorkerGroup) Troubles(within time.Duration) []error {
	return g.troubles(func(w *Worker) error { return w.Ready(within) })
}

func (g *WorkerGroup) troubles(judge func(*Worker) error) (all []error) {
	for _, namespace := range g.Namespaces() {
		w, err := g.members[namespace].state()
		if err == nil {
			err = judge(w)
		}
		if err != nil {
			all = append(all, fmt.Errorf("namespace %s: %w", namespace, err))
		}
	}
	return all
}
