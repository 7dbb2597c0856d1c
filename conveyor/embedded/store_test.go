package embedded_test

import (
	"testing"

	"github.com/waybill-dev/waybill/conveyor/embedded"
)

func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	s, err := embedded.Open(t.Context(), dir, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rdb := s.Client()
	if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	got, err := rdb.Eval(t.Context(), "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])", []string{"x"}, "1").Result()
	t.Log(got, err)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = embedded.Open(t.Context(), dir, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s.Client().MGet(t.Context(), "k", "x").Result())
	s.Close()
}
