package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A journal is a header line and then records:
//
//	length of the payload   4 bytes, little endian
//	checksum of the payload 4 bytes, CRC32C
//	checksum of the 8 bytes above, CRC32C
//	payload
//
// The head has a checksum of its own so that a flipped bit in a length is told apart from a tail that was cut
// off: the first is damage, the second is what a crash leaves.
const (
	journalHeader = "waybill journal 1\n"
	headSize      = 12

	// maxPayload bounds what a record may claim to hold. The largest command a client may send is smaller
	// (maxRequest), and a script's effects are bounded by what Lua can hold; the bound keeps a damaged head
	// from asking for absurd memory.
	maxPayload = 1 << 30
)

// kind says what a record is for; it is the first byte of the payload.
type kind byte

const (
	kindEffects  kind = 1 // what one top-level command changed
	kindSnapshot kind = 2 // a piece of the whole state, only at the head of a compacted journal
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is a payload under construction, with room for the head in front, so that a frame is one write.
type record struct{ buf []byte }

func newRecord(k kind) *record {
	r := &record{}
	r.reset(k)
	return r
}

// reset empties the record and keeps its memory.
func (r *record) reset(k kind) {
	r.buf = append(r.buf[:0], make([]byte, headSize)...)
	r.buf = append(r.buf, byte(k))
}

func (r *record) empty() bool { return len(r.buf) == headSize+1 }

func (r *record) size() int { return len(r.buf) }

// add appends one command to run on database db.
func (r *record) add(db int, args ...string) {
	r.buf = binary.AppendUvarint(r.buf, uint64(db))
	r.buf = binary.AppendUvarint(r.buf, uint64(len(args)))
	for _, a := range args {
		r.buf = binary.AppendUvarint(r.buf, uint64(len(a)))
		r.buf = append(r.buf, a...)
	}
}

// frame fills in the head and returns the bytes to write, valid until the next reset or add.
func (r *record) frame() []byte {
	payload := r.buf[headSize:]
	binary.LittleEndian.PutUint32(r.buf[0:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(r.buf[4:], crc32.Checksum(payload, castagnoli))
	binary.LittleEndian.PutUint32(r.buf[8:], crc32.Checksum(r.buf[:8], castagnoli))
	return r.buf
}

// head is the decoded start of a record.
type head struct {
	size     int
	checksum uint32
}

var errBadHead = errors.New("the record's head does not match its checksum")

// decodeHead reads the first headSize bytes of b.
func decodeHead(b []byte) (head, error) {
	if crc32.Checksum(b[:8], castagnoli) != binary.LittleEndian.Uint32(b[8:headSize]) {
		return head{}, errBadHead
	}
	size := binary.LittleEndian.Uint32(b)
	if size == 0 || size > maxPayload {
		return head{}, fmt.Errorf("a record of %d bytes", size)
	}
	return head{size: int(size), checksum: binary.LittleEndian.Uint32(b[4:])}, nil
}

func (h head) matches(payload []byte) bool {
	return crc32.Checksum(payload, castagnoli) == h.checksum
}

// command is one decoded entry of a record.
type command struct {
	db   int
	args []string
}

// maxDB is the number of databases, as in Redis by default.
const maxDB = 16

// decodePayload gives each command of a payload to apply, which may keep the strings.
func decodePayload(payload []byte, apply func(command) error) (kind, error) {
	if len(payload) == 0 {
		return 0, errors.New("an empty record")
	}
	k := kind(payload[0])
	if k != kindEffects && k != kindSnapshot {
		return k, fmt.Errorf("a record of unknown kind %d: it was written by a newer version", k)
	}
	rest := payload[1:]
	for len(rest) > 0 {
		var c command
		var err error
		if c, rest, err = decodeCommand(rest); err != nil {
			return k, err
		}
		if err := apply(c); err != nil {
			return k, err
		}
	}
	return k, nil
}

func decodeCommand(b []byte) (command, []byte, error) {
	db, b, err := decodeNumber(b)
	if err != nil || db >= maxDB {
		return command{}, nil, fmt.Errorf("a command for database %d: %w", db, errors.Join(err, errMalformed))
	}
	argc, b, err := decodeNumber(b)
	if err != nil || argc == 0 || argc > len(b) { // each argument takes one byte at least
		return command{}, nil, fmt.Errorf("a command of %d arguments: %w", argc, errors.Join(err, errMalformed))
	}
	c := command{db: db, args: make([]string, argc)}
	for i := range c.args {
		var n int
		if n, b, err = decodeNumber(b); err != nil || n > len(b) {
			return command{}, nil, fmt.Errorf("an argument of %d bytes: %w", n, errors.Join(err, errMalformed))
		}
		c.args[i], b = string(b[:n]), b[n:]
	}
	return c, b, nil
}

var errMalformed = errors.New("the record is malformed")

func decodeNumber(b []byte) (int, []byte, error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > maxPayload {
		return 0, nil, errMalformed
	}
	return int(n), b[used:], nil
}
