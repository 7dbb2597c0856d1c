package planner

import (
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// Flags of an edge, above its kind.
const (
	edgeKindMask = 7
	edgeAddr     = 1 << (iota + 2) // an address follows
	edgeBinary                     // the uuid is 16 bytes
	edgeGroup                      // the group is not 0
	edgeOpening                    // the opening is not 1
)

func (e *Edge) appendTo(b []byte) []byte {
	head := byte(e.Kind) & edgeKindMask
	if e.Addr != (config.Addr{}) {
		head |= edgeAddr
	}
	id, binaryID := canonicalUUID(e.UUID)
	if binaryID {
		head |= edgeBinary
	}
	if e.Group != 0 {
		head |= edgeGroup
	}
	if e.Opening != 1 {
		head |= edgeOpening
	}
	b = append(b, head)
	if head&edgeGroup != 0 {
		b = binary.AppendUvarint(b, uint64(e.Group))
	}
	if head&edgeAddr != 0 {
		b = appendText(b, e.Addr.Module)
		b = appendText(b, e.Addr.Name)
		b = append(b, byte(e.Addr.Key.Kind))
		switch e.Addr.Key.Kind {
		case config.KeyString:
			b = appendText(b, e.Addr.Key.Str)
		case config.KeyInt:
			b = binary.AppendUvarint(b, uint64(e.Addr.Key.Int))
		}
	}
	if binaryID {
		b = append(b, id[:]...)
	} else {
		b = appendText(b, e.UUID)
	}
	if head&edgeOpening != 0 {
		b = binary.AppendUvarint(b, uint64(e.Opening))
	}
	return b
}

func (d *recordReader) edge(e *Edge) {
	head := d.byte()
	e.Kind = EdgeKind(head & edgeKindMask)
	if e.Kind > EdgeSuccessor || head>>7 != 0 {
		d.short = true
	}
	if head&edgeGroup != 0 {
		e.Group = int(d.number())
	}
	if head&edgeAddr != 0 {
		e.Addr.Module = d.text()
		e.Addr.Name = d.text()
		switch e.Addr.Key.Kind = config.KeyKind(d.byte()); e.Addr.Key.Kind {
		case config.NoKey:
		case config.KeyString:
			e.Addr.Key.Str = d.text()
		case config.KeyInt:
			e.Addr.Key.Int = int(d.number())
		default:
			d.short = true
		}
	}
	if head&edgeBinary != 0 {
		var id uuid.UUID
		d.fixed(id[:])
		e.UUID = id.String()
	} else {
		e.UUID = d.text()
	}
	e.Opening = 1
	if head&edgeOpening != 0 {
		e.Opening = d.number()
	}
}

// triggers reads a list of them, each written as an edge.
func (d *recordReader) triggers() []Trigger {
	n := d.number()
	if n < 1 || n > int64(len(d.left)/2) {
		d.short = true
		return nil
	}
	list := make([]Trigger, n)
	for i := range list {
		var e Edge
		d.edge(&e)
		if e.Kind != EdgeAlways || e.Group != 0 || e.Opening != 1 {
			d.short = true
		}
		list[i] = Trigger{Addr: e.Addr, UUID: e.UUID}
	}
	return list
}

// canonicalUUID reads a uuid that is written the way we write ours, so that 16 bytes stand for it.
func canonicalUUID(s string) (id uuid.UUID, ok bool) {
	if len(s) != 36 {
		return id, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil && sameUUID(id, s)
}

// sameUUID compares without allocating.
func sameUUID(id uuid.UUID, s string) bool {
	const digits = "0123456789abcdef"
	if len(s) != 36 {
		return false
	}
	at := 0
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			if s[at] != '-' {
				return false
			}
			at++
		}
		if s[at] != digits[b>>4] || s[at+1] != digits[b&15] {
			return false
		}
		at += 2
	}
	return true
}
