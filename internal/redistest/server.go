package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// startTimeout bounds the wait for the first PONG. It is generous because a loaded machine may take seconds to
// run a new process; an exited server is noticed at once and does not use it up.
const startTimeout = 30 * time.Second

// errMissing is what every test says on a machine without Redis. Tests fail with it and never skip.
var errMissing = errors.New("redis-server is not installed: run `make test`, which installs it, or apt-get install redis-server")

// Server is one process of redis-server, or of a program like it, with a directory of its own. The directory and the address stay the same
// over Kill and Restart, so an append-only file is found again.
type Server struct {
	program string // "" for redis-server
	dir     string
	network string // "unix" or "tcp"
	addr    string
	args    []string

	mu   sync.Mutex
	proc *testserver.Process // nil while no server runs
}

// Start runs a redis-server on a unix socket until the end of the test. It keeps nothing on disk unless
// extraArgs ask for it ("--appendonly", "yes"); extraArgs stand last and so win over the defaults.
func Start(tb testing.TB, extraArgs ...string) *Server {
	tb.Helper()
	return started(tb)(startUnix("", extraArgs))
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

func startUnix(program string, extraArgs []string) (*Server, error) {
	dir, err := testserver.TempDir("wbr")
	if err != nil {
		return nil, err
	}
	s := &Server{program: program, dir: dir, network: "unix", addr: filepath.Join(dir, "s")}
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
		dir, err := testserver.TempDir("wbr")
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
		s.proc.End(syscall.SIGKILL)
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
		s.proc.Signal(resume) // a paused server could not end
		s.proc.End(syscall.SIGTERM)
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
	path, err := lookProgram(s.program)
	if err != nil {
		return err
	}
	p, err := testserver.Run(exec.Command(path, s.args...), syscall.SIGKILL)
	if err != nil {
		return err
	}
	if err := p.Await(startTimeout, s.ping); err != nil {
		p.End(syscall.SIGKILL)
		return fmt.Errorf("start %s in %s: %w", filepath.Base(path), s.dir, err)
	}
	s.proc = p
	return nil
}

// lookProgram finds redis-server, or what is to run in its place.
func lookProgram(program string) (string, error) {
	if program != "" {
		path, err := exec.LookPath(program)
		if err != nil {
			return "", fmt.Errorf("%s is not installed, and this test runs on nothing else", program)
		}
		return path, nil
	}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", errMissing
	}
	return path, nil
}

// ping asks once, on a bare connection, because a client's pool waits a second after a refused dial. A server that still loads
// its data answers an error and counts as not ready.
func (s *Server) ping(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, s.network, s.addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
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

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
