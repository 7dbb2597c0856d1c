package embedded

import (
	"bufio"
	"errors"
	"net"
	"strconv"

	"github.com/alicebob/miniredis/v2/server"
)

// session is one connection to a host. Its goroutine reads and executes; the outbox writes.
type session struct {
	host *host
	conn net.Conn
	in   *bufio.Reader
	out  *outbox
	peer *server.Peer // for what belongs to a connection; it writes into out, published messages too

	// Guarded by the host's mutex.
	client     client
	subscribed bool
	refusing   bool // a command was refused, so those behind it are too
	tx         *transaction

	quit bool // of the session's goroutine
}

func newSession(h *host, conn net.Conn) *session {
	s := &session{host: h, conn: conn, in: bufio.NewReaderSize(conn, 16<<10), out: newOutbox(conn)}
	s.peer = server.NewPeer(bufio.NewWriter(s.out))
	return s
}

func (s *session) run() {
	defer s.end()
	for !s.quit {
		args, err := readRequest(s.in)
		if errors.Is(err, errProtocol) {
			s.send(appendError(nil, err.Error()))
			return
		}
		if err != nil {
			return
		}
		if len(args) > 0 {
			s.handle(args)
		}
	}
}

// end lets go of everything the connection held.
func (s *session) end() {
	h := s.host
	h.mu.Lock()
	delete(h.sessions, s)
	if s.subscribed {
		// The messages of this go nowhere; what counts is that miniredis forgets the subscriber.
		_ = h.ds.callOn(s.peer, &s.client, []string{"UNSUBSCRIBE"})
		_ = h.ds.callOn(s.peer, &s.client, []string{"PUNSUBSCRIBE"})
	}
	h.mu.Unlock()
	s.out.close(drainGrace)
	_ = s.conn.Close()
}

// drain makes the session end when it has executed what has arrived. New requests fail on the client's side before
// anything is sent, so it knows that they were not executed.
func (s *session) drain() {
	if c, ok := s.conn.(interface{ CloseRead() error }); ok {
		_ = c.CloseRead()
		return
	}
	_ = s.conn.Close()
}

// send queues a reply. A client that cannot take it is found out by the session's reader.
func (s *session) send(reply []byte) { _, _ = s.out.Write(reply) }

// handle executes one command and waits, outside the mutex, when it blocks.
func (s *session) handle(args []string) {
	h := s.host
	h.mu.Lock()
	w := s.execute(args)
	if h.failed == nil {
		h.serveWaiting()
	}
	h.mu.Unlock()
	if w != nil {
		s.await(w)
	}
}

// execute runs a command and sends the reply, or returns what it has to wait for.
func (s *session) execute(args []string) *waiter {
	h := s.host
	name := upper(args[0])
	v, known := verbs[name]
	switch {
	case h.failed != nil, s.refusing:
		s.refuseNow()
	case s.tx != nil && name != "EXEC" && name != "DISCARD" && name != "MULTI" && name != "WATCH":
		s.send(s.enqueue(v, known, args))
	case v.session:
		s.send(s.control(name, args))
	case v.blocks && len(args)-1 >= v.arity:
		return s.block(args)
	default:
		s.send(h.run(func(out []byte) []byte { return h.ds.exec(&s.client, out, args) }))
	}
	return nil
}

// control answers the commands that belong to a connection. They change no data.
func (s *session) control(name string, args []string) []byte {
	h := s.host
	switch name {
	case "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH":
		return s.transact(name, args)
	case "READONLY", "READWRITE":
		s.client.readOnly = name == "READONLY"
		return appendStatus(nil, "OK")
	case "SELECT":
		n, err := strconv.Atoi(args[len(args)-1])
		if err != nil || len(args) != 2 || n < 0 || n >= maxDB {
			return appendError(nil, "ERR DB index is out of range")
		}
		s.client.db = n
	case "QUIT":
		s.quit = true
		return appendStatus(nil, "OK")
	case "HELLO":
		// What miniredis answers in RESP3 is partly shaped otherwise than by Redis.
		if len(args) > 1 && args[1] != "2" {
			return appendError(nil, "NOPROTO unsupported protocol version")
		}
	case "RESET":
		return appendError(nil, "ERR RESET is not supported by the embedded store")
	case "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE":
		s.subscribed = true
	}
	if err := h.ds.callOn(s.peer, &s.client, args); err != nil {
		h.fail(err)
		return h.refusal()
	}
	return nil // the peer has written the reply
}
