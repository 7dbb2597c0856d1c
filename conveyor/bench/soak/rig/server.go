package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// startTimeout bounds the wait for a server that loads its data on a busy machine.
const startTimeout = time.Minute

// server is one redis-server on a port of the loopback interface, whose data stays in its directory over Kill and start.
type server struct {
	dir  string
	addr string
	args []string
	proc *testserver.Process // nil while none runs
	rdb  *redis.Client       // without any fault between
}

func newServer(dir string, args ...string) (*server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, addr: addr}
	s.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no",
		"--loglevel", "warning", "--enable-debug-command", "local", "--repl-diskless-sync-delay", "0"}, args...)
	s.rdb = redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, PoolSize: 4})
	return s, s.start()
}

func (s *server) start() error {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return errors.New("redis-server is not installed: run `make install-deps`")
	}
	if s.proc, err = testserver.Run(exec.Command(path, s.args...), syscall.SIGKILL); err != nil {
		return err
	}
	if err := s.proc.Await(startTimeout, s.ping); err != nil {
		s.kill()
		return fmt.Errorf("start redis-server in %s: %w", s.dir, err)
	}
	return nil
}

// ping wants a server that has loaded its data. The client's pool would wait a second after a refused dial.
func (s *server) ping(ctx context.Context) error {
	rdb := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true})
	defer func() { _ = rdb.Close() }()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return rdb.Ping(ctx).Err()
}

func (s *server) kill() {
	if s.proc != nil {
		s.proc.End(syscall.SIGKILL)
		s.proc = nil
	}
}

func (s *server) signal(sig syscall.Signal) {
	if s.proc != nil {
		s.proc.Signal(sig)
	}
}

// journal is the file that the server appends to; "" without one.
func (s *server) journal() string {
	found, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}
