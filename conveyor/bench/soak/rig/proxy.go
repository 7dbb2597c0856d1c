// Package rig is the ground a soak stands on: stores that can be killed, paused and robbed of what they did not save, and the network
// between them and their clients.
package rig

import (
	"net"
	"os"
	"sync"
	"time"
)

// Proxy is the network between one client process and the store.
type Proxy struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	running  sync.WaitGroup

	mu       sync.Mutex
	links    map[*link]struct{} // nil once closed
	delay    time.Duration
	hole     chan struct{} // closed while the network passes bytes on; a partition makes a new one
	requests int           // to be lost
	replies  int           // to be lost
	lost     int           // requests and replies that were
}

// NewProxy listens on a unix socket. Each connection leads to where dial leads at its time.
func NewProxy(path string, dial func() (net.Conn, error)) (*Proxy, error) {
	_ = os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	open := make(chan struct{})
	close(open)
	p := &Proxy{listener: l, dial: dial, links: map[*link]struct{}{}, hole: open}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is the path of the socket.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy and all its connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Heal()
	p.mu.Lock()
	for l := range p.links {
		l.cut()
	}
	p.links = nil
	p.mu.Unlock()
	p.running.Wait()
}

// Cut breaks every connection. What the store was sent before, it still executes.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// Delay holds back what goes either way for so long.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Partition drops nothing and passes nothing on until Heal: packets are lost and sent again for as long as it lasts.
func (p *Proxy) Partition() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.hole:
		p.hole = make(chan struct{})
	default: // it is one already
	}
}

// Heal ends a partition.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.hole:
	default:
		close(p.hole)
	}
}

// LoseRequests has the next n requests never reach the store, each with its connection.
func (p *Proxy) LoseRequests(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = n
}

// LoseReplies has the next n replies never reach the client, each with its connection: the store has executed what they answer, and a
// client that repeats its request is a packet that comes twice.
func (p *Proxy) LoseReplies(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies = n
}

// Lost is how many requests and replies were lost so far.
func (p *Proxy) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := p.dial()
		if err != nil {
			_ = client.Close() // as a network does behind which nobody is
			continue
		}
		l := &link{client: client, server: server, done: make(chan struct{})}
		p.mu.Lock()
		if p.links == nil {
			l.cut()
		} else {
			p.links[l] = struct{}{}
			p.running.Go(func() { p.pass(l, client, server, &p.requests) })
			p.running.Go(func() { p.pass(l, server, client, &p.replies) })
		}
		p.mu.Unlock()
	}
}

// pass passes on what comes from one end to the other, until the link ends.
func (p *Proxy) pass(l *link, from, to net.Conn, toLose *int) {
	defer func() {
		l.cut()
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if !p.wait(l) || p.lose(toLose) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// wait is the time that the network takes; false: the link has ended.
func (p *Proxy) wait(l *link) bool {
	p.mu.Lock()
	delay, hole := p.delay, p.hole
	p.mu.Unlock()
	select {
	case <-hole:
	case <-l.done:
		return false
	}
	if delay == 0 {
		return true
	}
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.done:
		return false
	}
}

func (p *Proxy) lose(n *int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *n == 0 {
		return false
	}
	*n--
	p.lost++
	return true
}

// link is one connection through a Proxy.
type link struct {
	client, server net.Conn
	once           sync.Once
	done           chan struct{} // closed when the link is cut
}

func (l *link) cut() {
	l.once.Do(func() {
		close(l.done)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}
