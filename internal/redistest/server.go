package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startTimeout bounds the wait for the first PONG. It is generous because a loaded machine may take seconds to
// run a new process; an exited server is noticed at once and does not use it up.
const startTimeout = 30 * time.Second

// Server is one redis-server process with a directory of its own. The directory and the address stay the same
// over Kill and Restart, so an append-only file is found again.
type Server struct {
	dir     string
	network string // "unix" or "tcp"
	addr    string
	args    []string

	mu   sync.Mutex
	proc *process // nil while no server runs
}

// Start runs a redis-server on a unix socket until the end of the test. It keeps nothing on disk unless
// extraArgs ask for it ("--appendonly", "yes"); extraArgs stand last and so win over the defaults.
func Start(tb testing.TB, extraArgs ...string) *Server {
	tb.Helper()
	return started(tb)(startUnix(extraArgs))
}

// StartTCP is Start on a free port of the loopback interface, for tests of redis:// addresses.
func StartTCP(tb testing.TB, extraArgs ...string) *Server {
	tb.Helper()
	return started(tb)(startTCP(extraArgs))
}

// started fails the test or ties the server's life to it.
func started(tb testing.TB) func(*Server, error) *Server {
	return func(s *Server, err error) *Server {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(s.remove)
		return s
	}
}

func startUnix(extraArgs []string) (*Server, error) {
	dir, err := shortTempDir()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, network: "unix", addr: filepath.Join(dir, "s")}
	s.args = serverArgs(dir, extraArgs, "--port", "0", "--unixsocket", s.addr, "--unixsocketperm", "700")
	if err := s.start(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// startTCP picks a free port and tries again with another when somebody takes it before redis-server does.
func startTCP(extraArgs []string) (*Server, error) {
	var last error
	for range 5 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		dir, err := shortTempDir()
		if err != nil {
			return nil, err
		}
		s := &Server{dir: dir, network: "tcp", addr: net.JoinHostPort("127.0.0.1", port)}
		s.args = serverArgs(dir, extraArgs, "--port", port, "--bind", "127.0.0.1")
		if last = s.start(); last == nil {
			return s, nil
		}
		s.remove()
		if !strings.Contains(last.Error(), "in use") {
			break
		}
	}
	return nil, last
}

func serverArgs(dir string, extraArgs []string, listen ...string) []string {
	args := append(listen, "--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")
	return append(args, extraArgs...)
}

// Dir is the server's working directory, where it keeps append-only files. It is removed after the test.
func (s *Server) Dir() string { return s.dir }

// Options are fresh client options for the server, free for the caller to change.
func (s *Server) Options() *redis.Options {
	return &redis.Options{Network: s.network, Addr: s.addr}
}

// URL is the server's address in the form that redis.ParseURL reads.
func (s *Server) URL() string {
	if s.network == "unix" {
		return (&url.URL{Scheme: "unix", Path: s.addr, RawQuery: "db=0"}).String()
	}
	return "redis://" + s.addr + "/0"
}

// Client is a new client with the default options, closed at the end of the test.
func (s *Server) Client(tb testing.TB) *redis.Client {
	tb.Helper()
	rdb := redis.NewClient(s.Options())
	tb.Cleanup(func() { _ = rdb.Close() }) // a test may have closed it already
	return rdb
}

// Kill ends the server as a crash would (SIGKILL) and waits until it is gone. Killing a dead server is no error.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.kill()
		s.proc = nil
	}
}

// Restart starts the server again in the same directory, at the same address and with the same arguments. One
// that still runs is stopped in order first.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.stop()
	if err := s.start(); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.terminate()
		s.proc = nil
	}
}

// remove kills, because an orderly stop takes redis-server 0.1 s and saves what is deleted next.
func (s *Server) remove() {
	s.Kill()
	_ = os.RemoveAll(s.dir)
}

// start runs the process and returns when it answers PING.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := run(s.args)
	if err != nil {
		return err
	}
	if err := s.await(p); err != nil {
		p.kill()
		return fmt.Errorf("start redis-server in %s: %w\n%s", s.dir, err, p.out.String())
	}
	s.proc = p
	return nil
}

// await asks for PONG in growing intervals: redis-server has no portable way to announce that it is ready. It
// speaks on a bare connection because a client's pool waits a second after a refused dial.
func (s *Server) await(p *process) error {
	deadline := time.Now().Add(startTimeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := s.ping(deadline)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no PONG within %s: %w", startTimeout, err)
		}
		select {
		case <-p.exited:
			return errors.New("it exited at once")
		case <-time.After(pause):
		}
	}
}

// ping asks once. A server that still loads its data answers an error and counts as not ready.
func (s *Server) ping(deadline time.Time) error {
	conn, err := net.DialTimeout(s.network, s.addr, time.Until(deadline))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if reply != "+PONG\r\n" {
		return fmt.Errorf("PING was answered by %q", reply)
	}
	return nil
}

// shortTempDir makes a directory whose sockets stay below the 104 bytes that a unix socket path may have.
func shortTempDir() (string, error) {
	base := os.TempDir()
	if len(base) > 60 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "wbr")
	if err != nil {
		return "", fmt.Errorf("make a directory for redis-server: %w", err)
	}
	return dir, nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
