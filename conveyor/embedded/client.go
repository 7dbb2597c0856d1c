package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// dialTimeout bounds waiting for a host that starts: replaying a million jobs takes some seconds, more on a loaded machine.
	dialTimeout = time.Minute
	// greetTimeout bounds the first answer of a host that has accepted, which a compaction may delay.
	greetTimeout = 10 * time.Second
	// readTimeout bounds one answer. It is long because a host answers one command at a time.
	readTimeout = time.Minute
)

func newClient(dial func(context.Context) (net.Conn, error), readOnly bool) *redis.Client {
	o := &redis.Options{
		Addr:                     "embedded",
		Dialer:                   func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		Protocol:                 2,
		MaxRetries:               -1, // the hook below knows what may be sent again
		DialerRetries:            1,  // dial waits by itself
		DialTimeout:              dialTimeout,
		ReadTimeout:              readTimeout,
		WriteTimeout:             readTimeout,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		PoolSize:                 64, // blocking commands hold a connection each; the host does not mind
		PoolTimeout:              readTimeout,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if readOnly {
		o.OnConnect = func(ctx context.Context, cn *redis.Conn) error {
			return cn.Process(ctx, redis.NewStatusCmd(ctx, "READONLY"))
		}
	}
	rdb := redis.NewClient(o)
	rdb.AddHook(resend{})
	return rdb
}

// connect dials a host's socket and waits until the host answers: a connection that is only queued is lost when
// the host ends.
func connect(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	conn, ok := raw.(*net.UnixConn)
	if !ok {
		_ = raw.Close()
		return nil, fmt.Errorf("%s is no unix socket", socket)
	}
	deadline := time.Now().Add(greetTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := greet(conn, deadline); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the host at %s does not answer: %w", socket, err)
	}
	return &clientConn{UnixConn: conn}, nil
}

func greet(conn net.Conn, deadline time.Time) error {
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "*1\r\n$4\r\nPING\r\n"); err != nil {
		return err
	}
	reply, err := bufio.NewReaderSize(conn, 16).ReadString('\n') // the host sends nothing after it
	if err != nil {
		return err
	}
	if !strings.HasPrefix(reply, "+PONG") {
		return fmt.Errorf("it says %q", reply)
	}
	return conn.SetDeadline(time.Time{})
}

// errNotSent marks a request of which not one byte reached the host.
var errNotSent = errors.New("the host of the embedded store has gone; nothing was sent")

// clientConn is a connection of the client. It knows whether a request that failed has been sent at all.
type clientConn struct {
	*net.UnixConn
	unanswered atomic.Bool // bytes were written since something was last read
}

func (c *clientConn) Write(p []byte) (int, error) {
	n, err := c.UnixConn.Write(p)
	if err != nil && n == 0 && !c.unanswered.Load() && isBroken(err) {
		return 0, fmt.Errorf("%w: %w", errNotSent, err)
	}
	c.unanswered.Store(true)
	return n, err
}

func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.UnixConn.Read(p)
	if n > 0 {
		c.unanswered.Store(false)
	}
	return n, err
}

// lost reports that a connection ended, so that nobody knows what became of the request.
func lost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isBroken(err)
}
