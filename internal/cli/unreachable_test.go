package cli

import (
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
)

// TestHangUp: with TLS 1.3 a server that misses the client's certificate says so after the handshake, and whether that comes before the
// end of the connection is chance.
func TestHangUp(t *testing.T) {
	t.Parallel()
	reset := fmt.Errorf("%w: %w", conveyor.ErrUnavailable, &net.OpError{Op: "write", Err: syscall.ECONNRESET})
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"rediss://h:1", reset, "tls_cert=FILE"},
		{"rediss://h:1", io.EOF, "tls_cert=FILE"},
		{"redis://h:1", reset, "Start it, or correct -redis"},
		{"rediss://h:1", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "Start it, or correct -redis"},
	} {
		f := (&store{name: test.name}).unreachable(test.err).(*failure)
		if !strings.Contains(f.detail, test.want) {
			t.Errorf("%s, %v: %s", test.name, test.err, f.detail)
		}
	}
}
