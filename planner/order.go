package planner

// sort fills order, events and components.
//
// It plays the workflow through as one worker with one queue would: the roots of a component wait in address order; a
// job that is done queues its children in address order, one that is complete its heirs. Jobs in a cycle, and all that
// waits for them, are missing from order.
func (g *Graph) sort() {
	n := int32(len(g.jobs))
	g.order, g.events = make([]int32, 0, n), make([]int32, 0, 2*n)
	run := run{g: g, starts: make([]int32, n), ends: make([]int32, n)}
	for j := range n {
		run.ends[j] = 1 + int32(len(g.children.of(j)))
		for _, l := range g.up.of(j) {
			if l.inside() {
				run.starts[j]++
			}
		}
		run.starts[j] += int32(len(g.triggers.above(j)))
	}
	g.components = g.colour()
	roots := g.roots(run.starts)
	for component := range int32(len(roots.at) - 1) {
		run.queue = append(run.queue[:0], roots.of(component)...)
		for i := 0; i < len(run.queue); i++ {
			run.work(run.queue[i])
		}
	}
}

// run is one walk over all events of a graph.
type run struct {
	g      *Graph
	starts []int32 // what each job still waits for before it starts
	ends   []int32 // what each job still waits for before it is complete
	queue  []int32 // jobs that may start
	done   []int32 // jobs complete, their heirs and parents not told yet
}

func (r *run) work(j int32) {
	r.g.order = append(r.g.order, j)
	r.g.events = append(r.g.events, j)
	for _, child := range r.g.children.of(j) {
		r.arrive(child)
	}
	for _, other := range r.g.triggers.below(j) {
		r.arrive(other)
	}
	r.finish(j)
	for len(r.done) > 0 {
		last := len(r.done) - 1
		j := r.done[last]
		r.done = r.done[:last]
		r.g.events = append(r.g.events, ^j)
		for _, heir := range r.g.heirs.of(j) {
			r.arrive(heir)
		}
		for _, l := range r.g.up.of(j) {
			if l.kind.Parent() && l.inside() {
				r.finish(l.to)
			}
		}
	}
}

func (r *run) arrive(j int32) {
	if r.starts[j]--; r.starts[j] == 0 {
		r.queue = append(r.queue, j)
	}
}

func (r *run) finish(j int32) {
	if r.ends[j]--; r.ends[j] == 0 {
		r.done = append(r.done, j)
	}
}

// colour gives the jobs of each connected component a number of their own, in the order of their first roots. Jobs of
// a component without a root, which is a cycle, have -1.
func (g *Graph) colour() []int32 {
	colours := make([]int32, len(g.jobs))
	for j := range colours {
		colours[j] = -1
	}
	var todo []int32
	visit := func(j, colour int32) {
		if colours[j] < 0 {
			colours[j] = colour
			todo = append(todo, j)
		}
	}
	next := int32(0)
	for root := range int32(len(colours)) {
		if colours[root] >= 0 || !g.isRoot(root) {
			continue
		}
		visit(root, next)
		for len(todo) > 0 {
			j := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, l := range g.up.of(j) {
				if l.inside() {
					visit(l.to, next)
				}
			}
			for _, child := range g.children.of(j) {
				visit(child, next)
			}
			for _, other := range g.triggers.above(j) {
				visit(other, next)
			}
			for _, other := range g.triggers.below(j) {
				visit(other, next)
			}
			for _, heir := range g.heirs.of(j) {
				visit(heir, next)
			}
		}
		next++
	}
	return colours
}

func (g *Graph) isRoot(j int32) bool {
	for _, l := range g.up.of(j) {
		if l.inside() {
			return false
		}
	}
	return len(g.triggers.above(j)) == 0
}

// roots lists the jobs that wait for nothing, by component.
func (g *Graph) roots(starts []int32) spans[int32] {
	count := int32(0)
	for _, c := range g.components {
		count = max(count, c+1)
	}
	at := make([]int32, count+2)
	for j, waits := range starts {
		if waits == 0 {
			at[g.components[j]+2]++
		}
	}
	for i := 2; i < len(at); i++ {
		at[i] += at[i-1]
	}
	items := make([]int32, at[count+1])
	for j, waits := range starts {
		if waits == 0 {
			c := g.components[j] + 1
			items[at[c]] = int32(j)
			at[c]++
		}
	}
	return spans[int32]{at: at[:count+1], items: items}
}
