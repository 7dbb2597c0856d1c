package redistest

import (
	"bufio"
	"net"
	"sync"
)

// link is one connection through a Proxy.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	sent           chan Fault // of the requests that the server has not answered, in order
	once           sync.Once
	done           chan struct{} // closed when the link is cut
}

// cut ends the link at both ends. What the server was sent before, it still executes.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.done)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}

// requests passes on what the client asks, until the link ends.
func (l *link) requests() {
	defer l.proxy.forget(l)
	defer l.cut()
	r := bufio.NewReader(l.client)
	for {
		raw, command, first, err := readRequest(r)
		if err != nil {
			return
		}
		fault := l.proxy.judge(command, first)
		if fault == LoseRequest {
			return
		}
		select {
		case l.sent <- fault:
		case <-l.done:
			return
		}
		if _, err := l.server.Write(raw); err != nil {
			return
		}
	}
}

// replies passes on what the server answers, until the link ends.
func (l *link) replies() {
	defer l.cut()
	r := bufio.NewReader(l.server)
	for {
		raw, push, err := readReply(r)
		if err != nil {
			return
		}
		if !push {
			select {
			case fault := <-l.sent:
				if fault == LoseReply {
					return
				}
			case <-l.done:
				return
			}
		}
		if _, err := l.client.Write(raw); err != nil {
			return
		}
	}
}
