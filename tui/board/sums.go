package board

import "math/bits"

// indexed is from how many children on a node keeps prefix sums of them; fewer are gone through.
const indexed = 16

// index finds, among the many children of one node, those of a part by their number or by their line in logarithmic time.
type index [parts]struct {
	members prefix // 1 for each child in this part
	lines   prefix // its height
	sums    Sums   // of the jobs in it
}

// prefix is a Fenwick tree: its cell i, from 1, holds the sum of the i&-i values that end at value i.
type prefix []int32

// settle turns plain values into sums.
func (p prefix) settle() {
	for i := 1; i < len(p); i++ {
		if j := i + i&-i; j < len(p) {
			p[j] += p[i]
		}
	}
}

func (p prefix) add(i int, d int32) {
	if d == 0 {
		return
	}
	for i++; i < len(p); i += i & -i {
		p[i] += d
	}
}

// before is the sum of the first i values.
func (p prefix) before(i int) int {
	n := 0
	for ; i > 0; i &= i - 1 {
		n += int(p[i])
	}
	return n
}

func (p prefix) total() int { return p.before(len(p) - 1) }

// reach is the first value with which the sum from the start exceeds n, and the sum before it. It is len(p)-1 when none does.
func (p prefix) reach(n int) (i, before int) {
	for step := 1 << bits.Len(uint(len(p)-1)); step > 0; step >>= 1 {
		if next := i + step; next < len(p) && before+int(p[next]) <= n {
			i, before = next, before+int(p[next])
		}
	}
	return i, before
}

// total is how many children of v are in a part, and how many lines they have.
func (t *Tree) total(v int32, part Part) (members, lines int) {
	nd := &t.nodes[v]
	if nd.index != nil {
		x := &nd.index[part]
		return x.members.total(), x.lines.total()
	}
	for _, kid := range nd.kids {
		if k := &t.nodes[kid]; k.part == part {
			members, lines = members+1, lines+int(k.lines)
		}
	}
	return members, lines
}

// first is the height of the first n children of v in a part.
func (t *Tree) first(v int32, part Part, n int) int {
	nd := &t.nodes[v]
	if n <= 0 {
		return 0
	}
	if nd.index != nil {
		x := &nd.index[part]
		i, _ := x.members.reach(n - 1)
		return x.lines.before(min(i+1, len(nd.kids)))
	}
	lines := 0
	for _, kid := range nd.kids {
		if k := &t.nodes[kid]; k.part == part {
			lines += int(k.lines)
			if n--; n == 0 {
				break
			}
		}
	}
	return lines
}

// under is the child of v in a part that covers a line of that part's children: its rank among all children, its number
// among those of the part, and the lines before it.
func (t *Tree) under(v int32, part Part, line int) (rank, nth, before int) {
	nd := &t.nodes[v]
	if nd.index != nil {
		x := &nd.index[part]
		rank, before = x.lines.reach(line)
		return rank, x.members.before(rank), before
	}
	for i, kid := range nd.kids {
		k := &t.nodes[kid]
		if k.part != part {
			continue
		}
		if before+int(k.lines) > line {
			return i, nth, before
		}
		nth, before = nth+1, before+int(k.lines)
	}
	return len(nd.kids), nth, before
}

// position is the number of a child among those of its part, and the lines before it.
func (t *Tree) position(v int32, rank int) (nth, before int) {
	nd := &t.nodes[v]
	part := t.nodes[nd.kids[rank]].part
	if nd.index != nil {
		x := &nd.index[part]
		return x.members.before(rank), x.lines.before(rank)
	}
	for _, kid := range nd.kids[:rank] {
		if k := &t.nodes[kid]; k.part == part {
			nth, before = nth+1, before+int(k.lines)
		}
	}
	return nth, before
}

// after is the rank of the next child of v in a part, from a rank on; -1 when there is none.
func (t *Tree) after(v int32, part Part, rank int) int {
	nd := &t.nodes[v]
	if nd.index != nil {
		x := &nd.index[part]
		if i, _ := x.members.reach(x.members.before(rank)); i < len(nd.kids) {
			return i
		}
		return -1
	}
	for i := rank; i < len(nd.kids); i++ {
		if t.nodes[nd.kids[i]].part == part {
			return i
		}
	}
	return -1
}

// sumsOf counts the jobs below v in a part.
func (t *Tree) sumsOf(v int32, part Part) Sums {
	nd := &t.nodes[v]
	if nd.index != nil {
		return nd.index[part].sums
	}
	var s Sums
	for _, kid := range nd.kids {
		if k := &t.nodes[kid]; k.part == part {
			s.add(&k.sums)
		}
	}
	return s
}

// buildIndex makes the index of a node with many children, whose own parts, heights and sums are right.
func (t *Tree) buildIndex(v int32) {
	nd := &t.nodes[v]
	n := len(nd.kids)
	if n < indexed {
		nd.index = nil
		return
	}
	x := new(index)
	cells := make([]int32, int(parts)*2*(n+1))
	for p := range x {
		x[p].members, x[p].lines = cells[:n+1:n+1], cells[n+1:2*(n+1):2*(n+1)]
		cells = cells[2*(n+1):]
	}
	for i, kid := range nd.kids {
		k := &t.nodes[kid]
		x[k.part].members[i+1], x[k.part].lines[i+1] = 1, k.lines
		x[k.part].sums.add(&k.sums)
	}
	for p := range x {
		x[p].members.settle()
		x[p].lines.settle()
	}
	nd.index = x
}
