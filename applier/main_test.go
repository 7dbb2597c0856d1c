package applier

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/config"
)

// addr reads an address that the test itself wrote.
func addr(tb testing.TB, s string) config.Addr {
	tb.Helper()
	a, err := config.ParseAddr(s)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// yield lets other goroutines and the server go on while a test polls.
func yield(t *testing.T) {
	select {
	case <-t.Context().Done():
	case <-time.After(time.Millisecond):
	}
}
