package embedded

import (
	"io"
	"math"
	"strconv"

	"github.com/alicebob/miniredis/v2"
)

// Bounds of one record of a snapshot, so that neither writing nor replaying it needs much memory at once.
const (
	chunkBytes = 1 << 20
	chunkArgs  = 1000
)

// snapshot writes commands that make the whole dataset anew.
type snapshot struct {
	ds   *dataset
	out  io.Writer
	rec  *record
	args []string // of the command under construction: a verb, a key and what follows
	size int      // bytes of args
}

// writeSnapshot writes everything the dataset holds as records to out.
func (ds *dataset) writeSnapshot(out io.Writer) error {
	s := &snapshot{ds: ds, out: out, rec: newRecord(kindSnapshot)}
	for _, script := range ds.cached() {
		s.begin("SCRIPT", "LOAD")
		s.put(script.text)
		if err := s.end(0); err != nil {
			return err
		}
	}
	for i := range maxDB {
		db := ds.m.DB(i)
		for _, key := range db.Keys() {
			if err := s.key(db, i, key); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

func (s *snapshot) begin(args ...string) {
	s.args, s.size = append(s.args[:0], args...), 0
}

func (s *snapshot) put(args ...string) {
	for _, a := range args {
		s.args = append(s.args, a)
		s.size += len(a)
	}
}

// split ends the command and begins it anew when it has grown enough.
func (s *snapshot) split(db int) error {
	if len(s.args) < chunkArgs && s.size < chunkBytes {
		return nil
	}
	verb, key := s.args[0], s.args[1]
	if err := s.end(db); err != nil {
		return err
	}
	s.begin(verb, key)
	return nil
}

// end adds the command to the record, unless it says nothing.
func (s *snapshot) end(db int) error {
	if len(s.args) > 2 {
		s.rec.add(db, s.args...)
	}
	if s.rec.size() < chunkBytes {
		return nil
	}
	return s.flush()
}

func (s *snapshot) flush() error {
	if s.rec.empty() {
		return nil
	}
	_, err := s.out.Write(s.rec.frame())
	s.rec.reset(kindSnapshot)
	return err
}

// key writes one key with its deadline.
func (s *snapshot) key(db *miniredis.RedisDB, i int, key string) error {
	if err := s.value(db, i, key); err != nil {
		return err
	}
	if at, ok := s.ds.deadlineOf(i, key); ok {
		s.begin("PEXPIREAT", key)
		s.put(strconv.FormatInt(at.UnixMilli(), 10))
		return s.end(i)
	}
	return nil
}

func (s *snapshot) value(db *miniredis.RedisDB, i int, key string) error {
	c := &client{}
	if i != 0 {
		s.ds.call(c, []string{"SELECT", strconv.Itoa(i)})
	}
	switch db.Type(key) {
	case "string":
		return s.elements(c, i, "SET", key, "GET", key)
	case "hash":
		return s.elements(c, i, "HSET", key, "HGETALL", key)
	case "list":
		return s.elements(c, i, "RPUSH", key, "LRANGE", key, "0", "-1")
	case "set":
		return s.elements(c, i, "SADD", key, "SMEMBERS", key)
	case "zset":
		return s.sortedSet(db, i, key)
	case "stream":
		return s.stream(db, c, i, key)
	}
	return nil
}

// elements writes what read answers behind verb and key.
func (s *snapshot) elements(c *client, i int, verb, key string, read ...string) error {
	all, err := replyStrings(s.ds.call(c, read))
	if err != nil {
		return err
	}
	s.begin(verb, key)
	for n, e := range all {
		s.put(e)
		if n%2 == 1 { // a field of a hash stays with its value
			if err := s.split(i); err != nil {
				return err
			}
		}
	}
	return s.end(i)
}

func (s *snapshot) sortedSet(db *miniredis.RedisDB, i int, key string) error {
	scores, err := db.SortedSet(key)
	if err != nil {
		return err
	}
	s.begin("ZADD", key)
	for member, score := range scores {
		s.put(formatScore(score), member)
		if err := s.split(i); err != nil {
			return err
		}
	}
	return s.end(i)
}

func formatScore(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "+inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// stream writes the entries, and when the last one is gone a stand-in for it that is removed again, so that the
// stream exists and goes on behind the last id it ever gave.
func (s *snapshot) stream(db *miniredis.RedisDB, c *client, i int, key string) error {
	entries, err := db.Stream(key)
	if err != nil {
		return err
	}
	for _, e := range entries {
		s.begin("XADD", key)
		s.put(e.ID)
		s.put(e.Values...)
		if err := s.end(i); err != nil {
			return err
		}
	}
	last := s.ds.lastGenerated(c, key)
	if len(entries) > 0 && entries[len(entries)-1].ID == last.String() {
		return nil
	}
	if last == (streamID{}) {
		last.seq = 1
	}
	s.begin("XADD", key)
	s.put(last.String(), "removed", "1")
	if err := s.end(i); err != nil {
		return err
	}
	s.begin("XDEL", key)
	s.put(last.String())
	return s.end(i)
}
