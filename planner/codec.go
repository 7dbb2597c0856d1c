package planner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/config"
)

// recordFormat is the format of records that this version writes, and the newest that it reads.
//
// A record is "<version> <format> " in decimal, so that a script can compare versions without reading on, then:
//
//	flags      byte: 1 deposed, 2 has a key id
//	uuid       16 bytes
//	generation uvarint
//	opening    uvarint
//	work       16 bytes
//	handling   16 bytes
//	key id     text, if flagged; a text is its length as uvarint and its bytes
//	queue      text
//	type       text
//	edges      uvarint, then each: kind and flags in one byte, group (uvarint), address (module, name, key kind, key),
//	           uuid (16 bytes or text), opening (uvarint); what the flags leave out has its zero value
//	definition the rest
const recordFormat = 1

const (
	recordDeposed = 1 << iota
	recordKeyed
)

// Flags of an edge, above its kind.
const (
	edgeKindMask = 7
	edgeAddr     = 1 << (iota + 2) // an address follows
	edgeBinary                     // the uuid is 16 bytes
	edgeGroup                      // the group is not 0
	edgeOpening                    // the opening is not 1
)

// ErrRecord says that a state record cannot be read. The message names the address and the reason.
var ErrRecord = errors.New("unreadable state record")

// AppendTo appends the stored form of a record to b.
func (r *Record) AppendTo(b []byte) []byte {
	b = strconv.AppendInt(b, r.Version, 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, recordFormat, 10)
	b = append(b, ' ')
	flags := byte(0)
	if r.Deposed {
		flags |= recordDeposed
	}
	if r.KeyID != "" {
		flags |= recordKeyed
	}
	b = append(b, flags)
	b = append(b, r.UUID[:]...)
	b = binary.AppendUvarint(b, uint64(r.Generation))
	b = binary.AppendUvarint(b, uint64(r.Opening))
	b = append(b, r.Work[:]...)
	b = append(b, r.Handling[:]...)
	if r.KeyID != "" {
		b = appendText(b, r.KeyID)
	}
	b = appendText(b, r.Queue)
	b = appendText(b, r.Type)
	b = binary.AppendUvarint(b, uint64(len(r.Edges)))
	for i := range r.Edges {
		b = r.Edges[i].appendTo(b)
	}
	return append(b, r.Definition...)
}

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

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
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

// DecodeRecord reads the stored form of the record of an address. Texts of the record share the memory of value.
// It fails with ErrRecord when value is broken, or of a format that this version does not read.
func DecodeRecord(address, value string) (*Record, error) {
	version, rest, ok := strings.Cut(value, " ")
	format, body, ok2 := strings.Cut(rest, " ")
	v, err := strconv.ParseInt(version, 10, 64)
	f, err2 := strconv.ParseUint(format, 10, 32)
	if !ok || !ok2 || err != nil || err2 != nil || v < 1 {
		return nil, fmt.Errorf("%w of %s: it does not start with a version and a format: something else than waybill wrote it",
			ErrRecord, address)
	}
	if f != recordFormat {
		return nil, fmt.Errorf("%w of %s: it has format %d, and this version of waybill reads format %d; use the version that "+
			"wrote it, or a later one", ErrRecord, address, f, recordFormat)
	}
	d := recordReader{left: body}
	r := &Record{Version: v}
	flags := d.byte()
	d.fixed(r.UUID[:])
	r.Generation = d.number()
	r.Opening = d.number()
	d.fixed(r.Work[:])
	d.fixed(r.Handling[:])
	if flags&recordKeyed != 0 {
		r.KeyID = d.text()
	}
	r.Deposed = flags&recordDeposed != 0
	r.Queue = d.text()
	r.Type = d.text()
	if n := d.number(); n > 0 && n <= int64(len(d.left)) { // an edge takes more than a byte
		r.Edges = make([]Edge, n)
		for i := range r.Edges {
			d.edge(&r.Edges[i])
		}
	} else if n != 0 {
		d.short = true
	}
	if d.short || flags&^(recordDeposed|recordKeyed) != 0 {
		return nil, fmt.Errorf("%w of %s: it ends in the middle or holds what format %d does not have, near byte %d of %d; restore it "+
			"from a backup, or remove it with `waybill state rm`", ErrRecord, address, recordFormat, len(value)-len(d.left), len(value))
	}
	if d.left != "" {
		r.Definition = []byte(d.left)
	}
	return r, nil
}

// recordReader reads a record from left to right. After the first thing that is missing it stays short and gives zero values.
type recordReader struct {
	left  string
	short bool
}

func (d *recordReader) take(n int) string {
	if d.short || n > len(d.left) {
		d.short = true
		return ""
	}
	taken := d.left[:n]
	d.left = d.left[n:]
	return taken
}

func (d *recordReader) byte() byte {
	if b := d.take(1); b != "" {
		return b[0]
	}
	return 0
}

func (d *recordReader) fixed(to []byte) { copy(to, d.take(len(to))) }

// number reads a number that is never negative and fits an int on every machine of 64 bits.
func (d *recordReader) number() int64 {
	n := uint64(0)
	for shift := 0; ; shift += 7 {
		b := d.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		if shift > 56 {
			d.short = true
			return 0
		}
	}
	if n > math.MaxInt64 {
		d.short = true
		return 0
	}
	return int64(n)
}

func (d *recordReader) text() string {
	n := d.number()
	if n > int64(len(d.left)) {
		d.short = true
		return ""
	}
	return d.take(int(n))
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
