package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// handover answers a command that was not executed because the host is ending. The client of this package sends
// it again; no other error allows that.
const handover = "HANDOVER the embedded store is being handed over, the command was not executed"

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

// transaction is what a MULTI has collected.
type transaction struct {
	commands [][]string
	bad      bool // a command was refused while it was queued
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

// block executes a blocking command, or enters the session into the list of those who wait.
func (s *session) block(args []string) *waiter {
	h := s.host
	w, blocks, problem := waitFor(h.ds, s.client.db, args)
	if problem != "" {
		s.send(appendError(nil, problem))
		return nil
	}
	reply := h.run(func(out []byte) []byte { return h.ds.exec(&s.client, out, args) })
	switch {
	case !blocks || !isNothing(reply):
		s.send(reply)
		return nil
	case h.draining:
		s.refuseNow()
		return nil
	}
	waiting := &waiter{wait: w, session: s, served: make(chan struct{})}
	h.waiting.add(waiting, s.client.db)
	return waiting
}

// refuse ends a wait because the host does.
func (s *session) refuse(w *waiter) {
	s.host.waiting.remove(w, s.client.db)
	s.refuseNow()
	close(w.served)
}

// refuseNow answers that a command is not executed. None behind it is either, and no more are taken in, so that the
// client repeats them over another connection.
func (s *session) refuseNow() {
	s.refusing = true
	s.send(appendError(nil, handover))
	s.drain()
}

// await blocks until the waiter is served, its time is up or the client has gone.
func (s *session) await(w *waiter) {
	gone := s.watch()
	defer gone.stop()
	var timeout <-chan time.Time
	if w.timeout > 0 {
		t := time.NewTimer(w.timeout)
		defer t.Stop()
		timeout = t.C
	}
	left := false
	select {
	case <-w.served:
		return
	case <-timeout:
	case <-gone.eof:
		left = true
	}
	h := s.host
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-w.served: // in the very moment that the time was up
	default:
		s.quit = left
		h.waiting.remove(w, s.client.db)
		s.send(appendNoArray(nil))
	}
}

// watcher looks for the end of the client's input while nothing is read from it.
type watcher struct {
	conn net.Conn
	eof  chan struct{} // closed when the client has gone
	done chan struct{}
}

func (s *session) watch() *watcher {
	g := &watcher{conn: s.conn, eof: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(g.done)
		var stopped net.Error
		if _, err := s.in.Peek(1); err != nil && !(errors.As(err, &stopped) && stopped.Timeout()) {
			close(g.eof)
		}
	}()
	return g
}

// stop ends the watch by a deadline that has passed, and takes the deadline away again.
func (g *watcher) stop() {
	_ = g.conn.SetReadDeadline(time.Unix(1, 0))
	<-g.done
	_ = g.conn.SetReadDeadline(time.Time{})
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

// transact answers MULTI and what ends or guards it.
func (s *session) transact(name string, args []string) []byte {
	h := s.host
	switch {
	case name == "WATCH" && s.tx == nil, name == "UNWATCH":
		return append([]byte(nil), h.ds.call(&s.client, args)...)
	case name == "WATCH":
		return appendError(nil, "ERR WATCH inside MULTI is not allowed")
	case name == "MULTI" && s.tx == nil:
		s.tx = &transaction{}
		return appendStatus(nil, "OK")
	case name == "MULTI":
		return appendError(nil, "ERR MULTI calls can not be nested")
	case s.tx == nil:
		return appendError(nil, fmt.Sprintf("ERR %s without MULTI", name))
	}
	tx := s.tx
	s.tx = nil
	// miniredis knows whether a watched key has changed: an empty transaction of its own tells, and ends the watch.
	h.ds.call(&s.client, []string{"MULTI"})
	changed := string(h.ds.call(&s.client, []string{"EXEC"})) == "*-1\r\n"
	switch {
	case name == "DISCARD":
		return appendStatus(nil, "OK")
	case tx.bad:
		return appendError(nil, "EXECABORT Transaction discarded because of previous errors.")
	case changed:
		return appendNoArray(nil)
	}
	return h.run(func(out []byte) []byte {
		out = appendArray(out, len(tx.commands))
		for _, args := range tx.commands {
			out = h.ds.exec(&s.client, out, args)
		}
		return out
	})
}

// enqueue keeps a command for EXEC.
func (s *session) enqueue(v verb, known bool, args []string) []byte {
	if !known || v.session || len(args)-1 < v.arity {
		s.tx.bad = true
		return appendError(nil, fmt.Sprintf("ERR '%s' is unknown, incomplete or not allowed in a transaction", args[0]))
	}
	s.tx.commands = append(s.tx.commands, args)
	return appendStatus(nil, "QUEUED")
}
