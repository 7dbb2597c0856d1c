package redistest

import (
	"context"
	"fmt"
	"io"
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
	dial     func(ctx context.Context, addr string) (net.Conn, error)
	nodes    *redis.ClusterOptions // nil for one server
	dir      string
	listener net.Listener
	running  sync.WaitGroup

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
	return ProxyTo(tb, s.Client(tb))
}

// ProxyTo starts a proxy to the server of a client, or to all nodes of its Cluster. A client of Sentinels has to live as long.
func ProxyTo(tb testing.TB, rdb redis.UniversalClient) *Proxy {
	tb.Helper()
	p := &Proxy{links: map[*link]struct{}{}, seen: map[string]int{}}
	switch rdb := rdb.(type) {
	case *redis.Client:
		o := rdb.Options()
		p.dial = func(ctx context.Context, _ string) (net.Conn, error) { return o.Dialer(ctx, o.Network, o.Addr) }
	case *redis.ClusterClient:
		p.nodes = rdb.Options()
		p.dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
	default:
		tb.Fatalf("a proxy to a %T is not known", rdb)
	}
	dir, err := testserver.TempDir("wbr")
	if err != nil {
		tb.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "p"))
	if err != nil {
		_ = os.RemoveAll(dir)
		tb.Fatal(err)
	}
	p.dir, p.listener = dir, listener
	p.running.Go(p.accept)
	tb.Cleanup(p.Close)
	return p
}

// Client is a new client that leads through the proxy, and repeats nothing by itself but what a Cluster redirects. The caller closes it.
func (p *Proxy) Client() redis.UniversalClient {
	if p.nodes == nil {
		return redis.NewClient(p.Options())
	}
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: p.nodes.Addrs, MaxRetries: -1, ContextTimeoutEnabled: true,
		Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "unix", p.listener.Addr().String())
			if err == nil {
				_, err = fmt.Fprintln(conn, addr) // the proxy has one address for all nodes
			}
			return conn, err
		},
	})
}

// Options are fresh options of a client that leads through the proxy to one server. It repeats nothing by itself.
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
		p.connect(client)
	}
}

func (p *Proxy) connect(client net.Conn) {
	addr := ""
	var err error
	if p.nodes != nil {
		addr, err = readAddr(client)
	}
	var server net.Conn
	if err == nil {
		server, err = p.dial(context.Background(), addr)
	}
	if err != nil {
		_ = client.Close() // as a network does behind which nobody is
		return
	}
	p.open(client, server)
}

// readAddr reads the line that names a node, and no byte more.
func readAddr(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
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
	case "HELLO", "AUTH", "CLIENT", "SELECT", "READONLY", "CLUSTER", "COMMAND", "ASKING":
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
