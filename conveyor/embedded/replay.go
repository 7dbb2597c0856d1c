package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// CorruptError is a journal that is damaged where a crash cannot have damaged it: whole records follow. The
// store does not open on it, because cutting it there would lose what was acknowledged.
type CorruptError struct {
	Path   string
	Offset int64 // where the damaged record starts, in bytes
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the journal %s is damaged at offset %d: %v; restore the file from a backup, or give up what follows with: truncate -s %d %s",
		e.Path, e.Offset, e.Err, e.Offset, e.Path)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// replayed says how far a journal was good.
type replayed struct {
	size     int64 // bytes of header and whole records; what is behind them is a torn tail
	appended int64 // bytes of records that are no snapshot
	torn     int64 // bytes of the torn tail
}

// replay reads the journal of length total from r and gives every command to apply. A tail that a crash tore is
// left out of the returned size; damage before the tail is a *CorruptError.
func replay(path string, r io.ReaderAt, total int64, apply func(command) error) (replayed, error) {
	var done replayed
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, total), int(min(total, 1<<20)))
	torn, err := readHeader(path, in, total)
	if err != nil || torn {
		done.torn = total
		return done, err
	}
	done.size = int64(len(journalHeader))
	var payload []byte
	for {
		frame, bad := readRecord(in, total-done.size, &payload)
		if bad == io.EOF {
			return done, nil
		}
		if bad != nil {
			next, err := nextRecord(r, done.size+1, total)
			if err != nil {
				return done, journalError("read", path, err)
			}
			if next >= 0 {
				return done, &CorruptError{Path: path, Offset: done.size, Err: fmt.Errorf("%w (the next good record is at %d)", bad, next)}
			}
			done.torn = total - done.size
			return done, nil
		}
		k, err := decodePayload(payload, apply)
		if err != nil {
			return done, &CorruptError{Path: path, Offset: done.size, Err: err}
		}
		done.size += frame
		if k != kindSnapshot {
			done.appended += frame
		}
	}
}

// readHeader checks the first line. A header that was cut off, or is not there yet, is a torn tail like any other.
func readHeader(path string, in *bufio.Reader, total int64) (torn bool, err error) {
	if total == 0 {
		return true, nil
	}
	b := make([]byte, len(journalHeader))
	n, err := io.ReadFull(in, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, journalError("read", path, err)
	}
	if got := string(b[:n]); got != journalHeader {
		if strings.HasPrefix(journalHeader, got) {
			return true, nil
		}
		return false, fmt.Errorf("%s is no journal that this version reads: it starts with %q, want %q", path, got, journalHeader)
	}
	return false, nil
}

var (
	errShortRecord = errors.New("the record is cut short")
	errBadPayload  = errors.New("the record's content does not match its checksum")
)

// readRecord reads one record into *payload and returns the size of the whole frame. io.EOF is the end of the
// journal; any other error is a record that is not whole, for whatever reason.
func readRecord(in *bufio.Reader, left int64, payload *[]byte) (int64, error) {
	if left <= 0 {
		return 0, io.EOF
	}
	var b [headSize]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return 0, errShortRecord
	}
	h, err := decodeHead(b[:])
	if err != nil {
		return 0, err
	}
	if int64(h.size) > left-headSize {
		return 0, errShortRecord
	}
	if cap(*payload) < h.size {
		*payload = make([]byte, h.size)
	}
	*payload = (*payload)[:h.size]
	if _, err := io.ReadFull(in, *payload); err != nil {
		return 0, errShortRecord
	}
	if !h.matches(*payload) {
		return 0, errBadPayload
	}
	return headSize + int64(h.size), nil
}

// nextRecord searches from offset on for a whole record, and returns -1 when there is none. It tries every byte,
// because a damaged length says nothing about where the next record starts.
func nextRecord(r io.ReaderAt, offset, total int64) (int64, error) {
	const window = 1 << 20
	buf := make([]byte, min(window+headSize, max(total-offset, 0)))
	for ; total-offset > headSize; offset += window {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), total-offset)], offset)
		if err != nil && err != io.EOF {
			return 0, err
		}
		for i := 0; i < window && i+headSize <= n; i++ {
			h, err := decodeHead(buf[i:])
			if err != nil {
				continue
			}
			at := offset + int64(i)
			if at+headSize+int64(h.size) > total {
				continue
			}
			payload := make([]byte, h.size)
			if _, err := r.ReadAt(payload, at+headSize); err != nil && err != io.EOF {
				return 0, err
			}
			if h.matches(payload) {
				return at, nil
			}
		}
	}
	return -1, nil
}
