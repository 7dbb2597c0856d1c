package conveyor

import "slices"

// turns gives each queue its share of a worker's turns: smooth weighted round robin, so a queue of weight 6 beside one of 3
// comes first twice as often and not six times in a row. Whose turn it is comes first; the others follow, so that no slot
// stays free while any queue has jobs.
type turns struct {
	queues []turn
	total  int
}

type turn struct {
	name            string
	weight, current int
}

func newTurns(queues []QueueShare) *turns {
	t := &turns{}
	for _, q := range queues {
		w := max(q.Weight, 1)
		t.queues = append(t.queues, turn{name: q.Name, weight: w})
		t.total += w
	}
	return t
}

// next is the order in which to take from the queues this time.
func (t *turns) next() []string {
	if len(t.queues) == 0 {
		return nil
	}
	for i := range t.queues {
		t.queues[i].current += t.queues[i].weight
	}
	order := slices.Clone(t.queues)
	slices.SortStableFunc(order, func(a, b turn) int { return b.current - a.current })
	names := make([]string, len(order))
	for i, q := range order {
		names[i] = q.name
	}
	first := slices.IndexFunc(t.queues, func(q turn) bool { return q.name == names[0] })
	t.queues[first].current -= t.total
	return names
}

// names are the queues as they were given.
func (t *turns) names() []string {
	names := make([]string, len(t.queues))
	for i, q := range t.queues {
		names[i] = q.name
	}
	return names
}
