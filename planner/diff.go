package planner

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// shape is what is special about the members of one object.
type shape struct {
	job    bool // members of a whole job: some are blocks, and the uuid shows even if it stays
	forces bool // changes below are why a new generation runs
}

func jobMembers(forces bool) shape { return shape{job: true, forces: forces} }

// isBlock tells whether a member of a job is written as a block.
func isBlock(key string) bool {
	switch key {
	case "delivery", "exec", "gate", "http", "lifecycle", "obsolete_if", "parent", "predecessor", "retry", "run_at", "sleep":
		return true
	}
	return false
}

// mark is the sign of a line: "", "+", "-" or "~".
type mark string

// members writes what two objects have, attributes first and aligned, then blocks. before is nil for a new object and
// after for one that goes; else what is the same is only counted. indent is the column of names.
func (c *canvas) members(indent int, before, after document, s shape) {
	keys := slices.Collect(maps.Keys(before))
	keys = slices.AppendSeq(keys, maps.Keys(after))
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var attributes, blocks []string
	pad, hidden := 0, 0
	for _, key := range keys {
		switch {
		case s.job && isBlock(key):
			blocks = append(blocks, key)
		case before != nil && after != nil && !(s.job && key == "uuid") && same(before, after, key):
			hidden++
		default:
			attributes = append(attributes, key)
			pad = max(pad, utf8.RuneCountInString(quotedKey(key)))
		}
	}
	for _, key := range attributes {
		c.attributeDiff(indent, pad, key, before, after, s)
	}
	if hidden > 0 {
		c.note(indent, counted(hidden, "unchanged attribute", "unchanged attributes")+" hidden")
	}
	hidden = 0
	for _, key := range blocks {
		hidden += c.blocks(indent, key, before, after, s, len(attributes) > 0)
	}
	if hidden > 0 {
		c.blank()
		c.note(indent, counted(hidden, "unchanged block", "unchanged blocks")+" hidden")
	}
}

func (c *canvas) note(indent int, s string) {
	c.raw(strings.Repeat(" ", indent) + "# (" + s + ")\n")
}

func same(before, after document, key string) bool {
	b, ok := before[key]
	a, ok2 := after[key]
	return ok && ok2 && reflect.DeepEqual(b, a)
}

// blocks writes the blocks of one name and returns how many it left out because they stay.
func (c *canvas) blocks(indent int, key string, before, after document, s shape, spaced bool) (hidden int) {
	for _, pair := range align(blockList(before[key]), blockList(after[key])) {
		b, a := pair.objects()
		if pair.equal && before != nil && after != nil {
			hidden++
			continue
		}
		if spaced {
			c.blank()
		}
		spaced = true
		sign := mark("~")
		switch {
		case b == nil:
			sign = "+"
		case a == nil:
			sign = "-"
		}
		c.start(indent, sign)
		c.raw(key + " {\n")
		c.members(indent+4, b, a, shape{forces: s.forces && isWork(key)})
		c.raw(strings.Repeat(" ", indent) + "}\n")
	}
	return hidden
}

// blockList is the blocks of one name: a list of objects, or one. Anything else makes a block of its own value.
func blockList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

// start writes the sign and everything left of a name.
func (c *canvas) start(indent int, sign mark) {
	c.raw(strings.Repeat(" ", max(0, indent-2)))
	if sign == "" {
		c.raw("  ")
	} else {
		c.raw(c.ink.mark(string(sign)) + " ")
	}
}

// attribute writes one attribute with a value of one line.
func (c *canvas) attribute(indent int, sign mark, key string, pad int, value string) {
	c.name(indent, sign, key, pad)
	c.raw(value + "\n")
}

func (c *canvas) name(indent int, sign mark, key string, pad int) {
	c.start(indent, sign)
	name := quotedKey(key)
	c.raw(name + strings.Repeat(" ", max(0, pad-utf8.RuneCountInString(name))) + " = ")
}

func (c *canvas) attributeDiff(indent, pad int, key string, before, after document, s shape) {
	b, hasBefore := before[key]
	a, hasAfter := after[key]
	switch {
	case !hasBefore:
		c.name(indent, "+", key, pad)
		c.value(indent, "+", a)
	case !hasAfter:
		c.name(indent, "-", key, pad)
		c.value(indent, "-", b)
		c.raw(" -> null")
	case reflect.DeepEqual(b, a):
		c.name(indent, "", key, pad)
		c.value(indent, "", a)
	default:
		c.name(indent, "~", key, pad)
		c.change(indent, b, a)
		if s.forces && (!s.job || isWork(key)) {
			c.raw(" # forces replacement")
		}
	}
	c.raw("\n")
}

// change writes how a value becomes another.
func (c *canvas) change(indent int, before, after any) {
	switch b := before.(type) {
	case []any:
		if a, ok := after.([]any); ok && len(a) > 0 && len(b) > 0 {
			c.listChange(indent, b, a)
			return
		}
	case map[string]any:
		if a, ok := after.(map[string]any); ok && len(a) > 0 && len(b) > 0 {
			c.raw("{\n")
			c.members(indent+4, b, a, shape{})
			c.raw(strings.Repeat(" ", indent) + "}")
			return
		}
	case string:
		if a, ok := after.(string); ok && printsInLines(b) && printsInLines(a) {
			c.textChange(indent, b, a)
			return
		}
	}
	from, to := inline(before, recorded), inline(after, scalar)
	if b, ok := before.(string); ok && IsReference(b) {
		if a, ok := after.(string); ok && IsReference(a) { // which of them is what changes
			to = template(a) + unknownIn(a)
		}
	}
	if from == to { // two sensitive values
		c.raw(to)
		return
	}
	c.raw(from)
	if c.width > 0 && indent+utf8.RuneCountInString(from)+utf8.RuneCountInString(to)+8 > c.width && len(from) > 8 {
		c.raw("\n" + strings.Repeat(" ", indent) + "-> " + to)
		return
	}
	c.raw(" -> " + to)
}

func (c *canvas) listChange(indent int, before, after []any) {
	c.raw("[\n")
	c.pairs(indent+4, align(before, after), "element", func(sign mark, v any) {
		c.start(indent+4, sign)
		if text, ok := v.(string); ok && sign == "+" && IsReference(text) { // it may stand beside one that goes
			c.raw(template(text) + unknownIn(text))
		} else {
			c.value(indent+4, sign, v)
		}
		c.raw(",\n")
	})
	c.raw(strings.Repeat(" ", indent) + "]")
}

func (c *canvas) textChange(indent int, before, after string) {
	c.raw("<<-EOT\n")
	c.pairs(indent+4, align(lines(before), lines(after)), "line", func(sign mark, v any) {
		c.start(indent+4, sign)
		c.raw(v.(string) + "\n")
	})
	c.raw(strings.Repeat(" ", indent) + "EOT" + unknownIn(after))
}

func lines(s string) (all []any) {
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		all = append(all, line)
	}
	return all
}

// pairs writes aligned lists, with one unchanged neighbour around each change.
func (c *canvas) pairs(indent int, pairs []pair, what string, write func(sign mark, v any)) {
	hidden := 0
	flush := func() {
		if hidden > 0 {
			c.note(indent, counted(hidden, "unchanged "+what, "unchanged "+what+"s")+" hidden")
		}
		hidden = 0
	}
	for i, p := range pairs {
		if p.equal {
			near := i > 0 && !pairs[i-1].equal || i+1 < len(pairs) && !pairs[i+1].equal
			if !near {
				hidden++
				continue
			}
			flush()
			write("", p.after)
			continue
		}
		flush()
		b, a := p.objects()
		if b != nil && a != nil {
			c.start(indent, "~")
			c.change(indent, map[string]any(b), map[string]any(a))
			c.raw(",\n")
			continue
		}
		if p.hasBefore {
			write("-", p.before)
		}
		if p.hasAfter {
			write("+", p.after)
		}
	}
	flush()
}
