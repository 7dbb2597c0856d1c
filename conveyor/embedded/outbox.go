package embedded

import (
	"errors"
	"net"
	"sync"
	"time"
)

// maxUnsent is how many bytes of replies may wait for one client before it is disconnected. A client that sends a
// whole pipeline before it reads may cause that much; one that stopped reading is not worth more memory.
const maxUnsent = 64 << 20

var errSlowClient = errors.New("the client does not read its replies")

// outbox writes to a client from a goroutine of its own, so that neither a subscriber that stopped reading nor a
// pipeline whose client reads late ever holds up the one who writes.
type outbox struct {
	conn net.Conn

	mu     sync.Mutex
	queue  []byte
	spare  []byte // the buffer last sent, for reuse
	err    error
	closed bool
	wake   chan struct{} // holds one token when there is news for the sender
	done   chan struct{} // closed when the sender has ended
}

func newOutbox(conn net.Conn) *outbox {
	o := &outbox{conn: conn, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.send()
	return o
}

// Write queues p. It never blocks.
func (o *outbox) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && len(o.queue)+len(p) > maxUnsent {
		o.err = errSlowClient
		_ = o.conn.Close() // ends the session's reading too
	}
	if o.err != nil {
		return 0, o.err
	}
	o.queue = append(o.queue, p...)
	o.signal()
	return len(p), nil
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// close sends what is queued, for at most grace, and ends the sender. It does not close the connection.
func (o *outbox) close(grace time.Duration) {
	_ = o.conn.SetWriteDeadline(time.Now().Add(grace))
	o.mu.Lock()
	o.closed = true
	o.signal()
	o.mu.Unlock()
	<-o.done
}

func (o *outbox) send() {
	defer close(o.done)
	for range o.wake {
		o.mu.Lock()
		batch, closed := o.queue, o.closed
		o.queue = o.spare[:0]
		o.mu.Unlock()
		if len(batch) > 0 {
			if _, err := o.conn.Write(batch); err != nil {
				o.fail(err)
				return
			}
		}
		o.mu.Lock()
		o.spare = batch
		if cap(batch) > 1<<20 {
			o.spare = nil // a burst is over; its memory is not kept for ever
		}
		ended := closed && len(o.queue) == 0
		if closed && !ended {
			o.signal()
		}
		o.mu.Unlock()
		if ended {
			return
		}
	}
}

func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.queue = nil
}
