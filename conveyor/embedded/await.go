package embedded

import (
	"errors"
	"net"
	"time"
)

// handover answers a command that was not executed because the host is ending. The client of this package sends
// it again; no other error allows that.
const handover = "HANDOVER the embedded store is being handed over, the command was not executed"

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
