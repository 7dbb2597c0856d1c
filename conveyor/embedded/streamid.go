package embedded

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// streamID is a position in a stream.
type streamID struct{ ms, seq uint64 }

func (id streamID) compare(other streamID) int {
	return cmp.Or(cmp.Compare(id.ms, other.ms), cmp.Compare(id.seq, other.seq))
}

func (id streamID) String() string {
	return strconv.FormatUint(id.ms, 10) + "-" + strconv.FormatUint(id.seq, 10)
}

// next is the smallest position behind id.
func (id streamID) next() (streamID, bool) {
	switch {
	case id.seq < math.MaxUint64:
		return streamID{id.ms, id.seq + 1}, true
	case id.ms < math.MaxUint64:
		return streamID{id.ms + 1, 0}, true
	}
	return id, false
}

// parseStreamID reads "ms-seq" or "ms"; seq stands in for a missing second part.
func parseStreamID(s string, seq uint64) (streamID, bool) {
	first, second, whole := strings.Cut(s, "-")
	ms, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return streamID{}, false
	}
	if whole {
		if seq, err = strconv.ParseUint(second, 10, 64); err != nil {
			return streamID{}, false
		}
	}
	return streamID{ms, seq}, true
}
