package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Protected is a job block with prevent_destroy = true: nothing may end a job of it that has a record, be it declared or an
// instance that is gone.
type Protected struct {
	Block Addr // as Addr.Unkeyed gives it
	Range hcl.Range
}

// Unkeyed is the address without any key: of the block that declares the job, whatever the instance of its module.
func (a Addr) Unkeyed() Addr {
	a.Key = InstanceKey{}
	if !strings.Contains(a.Module, "[") {
		return a
	}
	module := ""
	for rest := a.Module; rest != ""; {
		name, _, behind := cutModule(rest)
		module = inModule(module, name)
		if behind == "" {
			break
		}
		rest = behind[1:]
	}
	a.Module = module
	return a
}

// mentions tells whether a word stands anywhere in an item.
func (it *item) mentions(s *source, word string) bool {
	return bytes.Contains(s.bytes[it.start:it.end], []byte(word))
}

// findProtected looks for prevent_destroy in all files, those of modules too, without evaluating anything. Whatever else is wrong with
// a job is no matter of whoever asks.
func (l *loader) findProtected() []Protected {
	var list []Protected
	for _, c := range l.calls {
		for _, j := range c.dir.jobs {
			b := j.block
			if b == nil && j.item != nil {
				b = j.parseItem(&report{})
			}
			if b == nil || j.broken {
				continue
			}
			if at := preventDestroy(b.open(&report{}), &l.r); at != (hcl.Range{}) {
				list = append(list, Protected{Block: Addr{Module: c.addr, Name: j.name}, Range: at})
			}
		}
	}
	for _, d := range l.directories {
		l.r.add(d.r.diags) // what cannot be read may protect something
	}
	return sortedProtected(list)
}

// protectedBlocks lists the job blocks with prevent_destroy, by address.
func (l *loader) protectedBlocks() []Protected {
	var list []Protected
	for _, m := range l.modules {
		for _, j := range m.jobs {
			if j.protected != (hcl.Range{}) {
				list = append(list, Protected{Block: j.addr(InstanceKey{}).Unkeyed(), Range: j.protected})
			}
		}
	}
	return sortedProtected(list)
}

func sortedProtected(list []Protected) []Protected {
	slices.SortFunc(list, func(a, b Protected) int { return compareAddrs(a.Block, b.Block) })
	return slices.CompactFunc(list, func(a, b Protected) bool { return a.Block == b.Block })
}

func compareAddrs(a, b Addr) int {
	switch {
	case a == b:
		return 0
	case a.Less(b):
		return -1
	}
	return 1
}
