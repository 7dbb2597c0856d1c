package config

import (
	"slices"
	"sync"
)

// outline names the block around a place, for the headline of a snippet. It reads the file again when it is first
// asked: most loads have nothing to show.
type outline struct {
	src   []byte
	once  sync.Once
	items []item
}

// ContextString is what hcl's writer of diagnostics looks for.
func (o *outline) ContextString(offset int) string {
	o.once.Do(func() { o.items, _ = splitItems(o.src) })
	i, _ := slices.BinarySearchFunc(o.items, offset, func(it item, offset int) int {
		if it.end <= offset {
			return -1
		}
		return 1
	})
	if i == len(o.items) || o.items[i].kind == "" || offset < o.items[i].head {
		return ""
	}
	return string(o.src[o.items[i].head:o.items[i].labelEnd])
}
