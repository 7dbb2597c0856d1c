package redistest

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// Fault is what a Proxy does to one request.
type Fault uint8

// The faults. Each ends the connection, as a network does that breaks.
const (
	Pass        Fault = iota // nothing
	LoseRequest              // the server never sees it
	LoseReply                // the server executes it, and nobody learns that
)

// String is the fault's name.
func (f Fault) String() string { return [...]string{"pass", "lose the request", "lose the reply"}[f] }

// Proxy stands between clients and a server and breaks connections at chosen requests. It counts requests over all its
// connections from 1, but not those by which a client only prepares a connection.
type Proxy struct {
	network, addr string // of the server
	dir           string
	listener      net.Listener
	running       sync.WaitGroup

	mu    sync.Mutex
	links map[*link]struct{} // nil once closed
	count int
	plan  func(n int) Fault
	hits  int
	seen  map[string]int
}

// Proxy starts a proxy to the server, without faults at first. It ends with the test.
func (s *Server) Proxy(tb testing.TB) *Proxy {
	tb.Helper()
	return startProxy(tb, s.network, s.addr)
}

// ProxyTo starts a proxy to the server of a client, whatever server that is.
func ProxyTo(tb testing.TB, rdb *redis.Client) *Proxy {
	tb.Helper()
	return startProxy(tb, rdb.Options().Network, rdb.Options().Addr)
}

func startProxy(tb testing.TB, network, addr string) *Proxy {
	tb.Helper()
	dir, err := testserver.TempDir("wbr")
	if err != nil {
		tb.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "p"))
	if err != nil {
		_ = os.RemoveAll(dir)
		tb.Fatal(err)
	}
	p := &Proxy{network: network, addr: addr, dir: dir, listener: listener, links: map[*link]struct{}{}, seen: map[string]int{}}
	p.running.Go(p.accept)
	tb.Cleanup(p.Close)
	return p
}

// Options are fresh client options that lead through the proxy. The client repeats nothing by itself.
func (p *Proxy) Options() *redis.Options {
	return &redis.Options{Network: "unix", Addr: p.listener.Addr().String(), MaxRetries: -1, ContextTimeoutEnabled: true}
}

// Plan has request n meet the fault plan(n) from now on. Nil is no fault at all. The plan is called by one goroutine at a time.
func (p *Proxy) Plan(plan func(n int) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
}

// Requests is how many requests came so far.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// Hits is how many requests met a fault so far.
func (p *Proxy) Hits() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits
}

// Seen tells how often each command came: its name, with its first argument after a space for those that run scripts.
func (p *Proxy) Seen() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := make(map[string]int, len(p.seen))
	for name, n := range p.seen {
		seen[name] = n
	}
	return seen
}

// Cut breaks every connection that is open now.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// Close ends the proxy and all its connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for l := range p.links {
		l.cut()
	}
	p.links = nil
	p.mu.Unlock()
	p.running.Wait()
	_ = os.RemoveAll(p.dir)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial(p.network, p.addr)
		if err != nil {
			_ = client.Close() // as a network does behind which nobody is
			continue
		}
		p.open(client, server)
	}
}

func (p *Proxy) open(client, server net.Conn) {
	l := &link{proxy: p, client: client, server: server, sent: make(chan Fault, 1024), done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links == nil {
		l.cut()
		return
	}
	p.links[l] = struct{}{}
	p.running.Go(l.requests)
	p.running.Go(l.replies)
}

func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// judge counts a request and tells what becomes of it.
func (p *Proxy) judge(command, first string) Fault {
	switch command {
	case "HELLO", "AUTH", "CLIENT", "SELECT", "READONLY":
		return Pass
	case "EVALSHA", "FCALL":
		command += " " + first
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	p.seen[command]++
	if p.plan == nil {
		return Pass
	}
	f := p.plan(p.count)
	if f != Pass {
		p.hits++
	}
	return f
}
