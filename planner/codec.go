package planner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// recordFormat is the format of records that this version writes, and the newest that it reads.
//
// A record is "<version> <format> " in decimal, so that a script can compare versions without reading on, then:
//
//	flags      byte: 1 deposed, 2 has a key id, 4 has triggers, 8 an earlier generation has done its work, 16 has
//	           digests of hidden values, 32 is signed
//	uuid       16 bytes
//	generation uvarint
//	opening    uvarint
//	work       16 bytes
//	handling   16 bytes
//	worked     uvarint, in milliseconds, if flagged
//	key id     text, if flagged; a text is its length as uvarint and its bytes
//	sign key   text, if flagged
//	queue      text
//	type       text
//	edges      uvarint, then each: kind and flags in one byte, group (uvarint), address (module, name, key kind, key),
//	           uuid (16 bytes or text), opening (uvarint); what the flags leave out has its zero value
//	triggers   if flagged: uvarint, then each as an edge is
//	hidden     if flagged: uvarint, then 16 bytes each
//	definition the rest
const recordFormat = 1

const (
	recordDeposed = 1 << iota
	recordKeyed
	recordTriggered
	recordWorked
	recordHidden
	recordSigned
)

// maxWorked bounds what a damaged record may say, in milliseconds: a century.
const maxWorked = 100 * 366 * 24 * 3600 * 1000

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
	if len(r.Triggers) > 0 {
		flags |= recordTriggered
	}
	if r.Worked > 0 {
		flags |= recordWorked
	}
	if len(r.Hidden) > 0 {
		flags |= recordHidden
	}
	if r.SignKey != "" {
		flags |= recordSigned
	}
	b = append(b, flags)
	b = append(b, r.UUID[:]...)
	b = binary.AppendUvarint(b, uint64(r.Generation))
	b = binary.AppendUvarint(b, uint64(r.Opening))
	b = append(b, r.Work[:]...)
	b = append(b, r.Handling[:]...)
	if r.Worked > 0 {
		b = binary.AppendUvarint(b, uint64(r.Worked.Milliseconds()))
	}
	if r.KeyID != "" {
		b = appendText(b, r.KeyID)
	}
	if r.SignKey != "" {
		b = appendText(b, r.SignKey)
	}
	b = appendText(b, r.Queue)
	b = appendText(b, r.Type)
	b = binary.AppendUvarint(b, uint64(len(r.Edges)))
	for i := range r.Edges {
		b = r.Edges[i].appendTo(b)
	}
	if len(r.Triggers) > 0 {
		b = binary.AppendUvarint(b, uint64(len(r.Triggers)))
		for _, t := range r.Triggers {
			b = (&Edge{Kind: EdgeAlways, Addr: t.Addr, UUID: t.UUID, Opening: 1}).appendTo(b)
		}
	}
	if len(r.Hidden) > 0 {
		b = binary.AppendUvarint(b, uint64(len(r.Hidden)))
		for i := range r.Hidden {
			b = append(b, r.Hidden[i][:]...)
		}
	}
	return append(b, r.Definition...)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
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
	if flags&recordWorked != 0 {
		r.Worked = time.Duration(min(d.number(), maxWorked)) * time.Millisecond
	}
	if flags&recordKeyed != 0 {
		r.KeyID = d.text()
	}
	if flags&recordSigned != 0 {
		r.SignKey = d.text()
	}
	r.Deposed = flags&recordDeposed != 0
	r.Queue = d.text()
	r.Type = d.text()
	if n := d.number(); n > 0 && n <= int64(len(d.left)/2) { // an edge takes at least two bytes
		r.Edges = make([]Edge, n)
		for i := range r.Edges {
			d.edge(&r.Edges[i])
		}
	} else if n != 0 {
		d.short = true
	}
	if flags&recordTriggered != 0 {
		r.Triggers = d.triggers()
	}
	if flags&recordHidden != 0 {
		if n := d.number(); n > 0 && n <= int64(len(d.left)/len(Digest{})) {
			r.Hidden = make([]Digest, n)
			for i := range r.Hidden {
				d.fixed(r.Hidden[i][:])
			}
		} else if n != 0 {
			d.short = true
		}
	}
	if d.short || flags&^(recordDeposed|recordKeyed|recordTriggered|recordWorked|recordHidden|recordSigned) != 0 {
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
